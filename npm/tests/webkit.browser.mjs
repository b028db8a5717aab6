// Pages, workers and tabs in WebKit.
import { playIn } from "./scenes.mjs";

playIn("webkit", 2);
