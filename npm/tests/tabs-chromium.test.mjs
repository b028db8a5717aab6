// Tab slots in Chromium.
import { playIn } from "./tab-scenes.mjs";

playIn("chromium", 4);
