// The page: its parts, and what its address says: `#id=...&layout=...`, or `#id=...&as=...` for one decoding.
import { layouts, SnowmintError } from "snowmint";
import { startDesigner } from "./designer.js";
import { byId, say } from "./element.js";
import { startFleet } from "./fleet.js";
import { startInspector } from "./inspector.js";
import { startMinter } from "./minter.js";
import { startService } from "./service.js";

const DEFAULT = "snowmint";
/** Browsers refuse an address that changes with every move of a slider. */
const PAUSE_MS = 300;

function startPage(): void {
  const state = new URLSearchParams();
  let timer = 0;
  let ready = false;

  /** Puts the content of the page into the address, without a step in the history. */
  const remember = (name: string, value: string) => {
    if (value) state.set(name, value);
    else state.delete(name);
    clearTimeout(timer);
    timer = window.setTimeout(() => history.replaceState(null, "", `#${state}`), PAUSE_MS);
  };

  const minter = startMinter();
  const inspector = startInspector((text) => {
    state.delete("as");
    remember("id", text);
  });
  const designer = startDesigner((layout) => {
    minter.use(layout);
    if (ready && layout) remember("layout", layout.name === DEFAULT ? "" : (layout.name ?? String(layout)));
  });

  /** Shows what the address says, and scrolls to it. The address of a part of the page, such as `#fleet`, sets nothing. */
  const recall = () => {
    const told = new URLSearchParams(location.hash.slice(1));
    const [id, as, layout] = [told.get("id"), told.get("as"), told.get("layout")];
    if (id !== null) {
      state.set("id", id);
      if (as === null) state.delete("as");
      else state.set("as", as);
      inspector.show(id, as);
    }
    if (layout !== null) {
      state.set("layout", layout);
      designer.show(layout);
    }
    const part = id !== null ? "inspect" : layout !== null ? "design" : null;
    if (part) byId(part).scrollIntoView({ behavior: "instant" });
  };

  designer.show(DEFAULT);
  recall();
  ready = true;
  addEventListener("hashchange", recall);
}

try {
  // The first use starts the engine, which a server's own policy may forbid.
  layouts.all();
  startPage();
  void startFleet();
  void startService();
} catch (error) {
  if (!(error instanceof SnowmintError)) throw error;
  say(byId("failure"), error.message);
  for (const section of document.querySelectorAll("section")) section.hidden = true;
}
