// Tab slots in Firefox.
import { playIn } from "./tab-scenes.mjs";

playIn("firefox", 4);
