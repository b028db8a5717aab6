// Pages, workers and tabs in Firefox.
import { playIn } from "./scenes.mjs";

playIn("firefox", 3);
