// The page: its parts, and what its address says: `#id=...&layout=...`.
import { layouts, SnowmintError } from "snowmint";
import { startDesigner } from "./designer.js";
import { byId, say } from "./element.js";
import { startFleet } from "./fleet.js";
import { startInspector } from "./inspector.js";
import { startMinter } from "./minter.js";
import { showService } from "./service.js";

const DEFAULT = "snowmint";
/** Browsers refuse an address that changes with every move of a slider. */
const PAUSE_MS = 300;

function startPage(): void {
  const state = new URLSearchParams();
  let timer = 0;
  let ready = false;

  /** Puts what is shown into the address, without a step in the history. */
  const remember = (name: string, value: string) => {
    if (value) state.set(name, value);
    else state.delete(name);
    clearTimeout(timer);
    timer = window.setTimeout(() => history.replaceState(null, "", `#${state}`), PAUSE_MS);
  };

  const minter = startMinter();
  const inspector = startInspector((text) => remember("id", text));
  const designer = startDesigner((layout) => {
    minter.use(layout);
    if (ready && layout) remember("layout", layout.name === DEFAULT ? "" : (layout.name ?? String(layout)));
  });

  /** Shows what the address says; the address of a part of the page says nothing. */
  const recall = () => {
    const told = new URLSearchParams(location.hash.slice(1));
    const id = told.get("id");
    const layout = told.get("layout");
    if (id !== null) {
      state.set("id", id);
      inspector.show(id);
    }
    if (layout !== null) {
      state.set("layout", layout);
      designer.show(layout);
    }
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
  void showService();
} catch (error) {
  if (!(error instanceof SnowmintError)) throw error;
  say(byId("failure"), error.message);
  for (const section of document.querySelectorAll("section")) section.hidden = true;
}
