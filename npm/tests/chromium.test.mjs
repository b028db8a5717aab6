// Pages, workers and tabs in Chromium.
import { playIn } from "./scenes.mjs";

playIn("chromium", 3);
