// Tab slots in WebKit.
import { playIn } from "./tab-scenes.mjs";

playIn("webkit", 3);
