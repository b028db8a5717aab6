// A generator in the page, at work.
import { type Layout, Snowflake, SnowmintError } from "snowmint";
import { byId, element, say } from "./element.js";
import { increases } from "./fields.js";
import { hashOf, shortLayout } from "./link.js";
import { systemName } from "./names.js";
import { grouped, utc } from "./time.js";
import { timeline } from "./timeline.js";

/** How long one burst may take, ms: less than a frame, so that the page stays quick. */
const BURST_MS = 6;
/** How far IDs may run ahead of the clock: the rest of a frame belongs to the page, its IDs are minted in bursts. */
const FRAME_MS = 16;
/** How many IDs are minted between two looks at the clock. */
const RUN = 64;
/** How many of the last IDs are listed. */
const LISTED = 8;

/** Starts this part of the page. */
export function startMinter(): { use(layout: Layout | null): void } {
  const node = byId<HTMLInputElement>("node");
  const start = byId<HTMLButtonElement>("start");
  const one = byId<HTMLButtonElement>("one");
  const status = byId("mint-status");
  // Numbers that run are motion too.
  const every = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 250;
  const recent: bigint[] = [];
  let layout: Layout | null = null;
  let generator: Snowflake | null = null;
  /** Counts the layouts and nodes: a lease that comes too late for its own is given back. */
  let choice = 0;
  /** The lease that is on its way, for this choice. */
  let pending: Promise<boolean> | null = null;
  let watch = 0;
  let total = 0;
  let frame = 0;
  let counted = 0;
  let since = 0;

  /** Makes a generator if it is missing. Returns whether a generator is ready. */
  const ready = async (): Promise<boolean> => {
    if (generator) return true;
    pending ??= layout && make(layout);
    return (await pending) ?? false;
  };

  const make = async (wanted: Layout): Promise<boolean> => {
    const own = choice;
    say(status, "Leasing a node.");
    try {
      const [made, why] = await leaseOrVouch(wanted, node.value);
      if (own !== choice) {
        await made.close();
        return false;
      }
      generator = made;
      say(byId("vouched"), why && `${why} Here you vouch that no other generator uses node ${made.node}.`);
      showWindow();
      watch = window.setInterval(showWindow, every);
      say(status, "");
      return true;
    } catch (error) {
      if (!(error instanceof SnowmintError)) throw error;
      if (own === choice) say(status, error.message);
      return false;
    } finally {
      if (own === choice) pending = null;
    }
  };

  const showWindow = () => {
    const granted = generator?.window;
    byId("window").hidden = !granted;
    if (!granted) return;
    say(byId("window-node"), `Node ${generator!.node} is leased to this tab`);
    byId("timeline").replaceChildren(timeline(granted, Date.now()));
  };

  /** Mints until the burst is over, or the generator has no more for now. */
  const burst = (limit: number): string => {
    const until = performance.now() + BURST_MS;
    try {
      for (let left = limit; left > 0 && performance.now() < until; left -= RUN)
        for (let i = Math.min(left, RUN); i > 0; i--) {
          const id = generator!.tryNextId();
          recent[total++ % LISTED] = id;
        }
      return "";
    } catch (error) {
      if (!(error instanceof SnowmintError)) throw error;
      // More will come by itself: in the next tick, or in the next window of a tab that was hidden.
      if (limit > 1 && (error.code === "EXHAUSTED" || isRenewing(error))) return "";
      stop();
      return error.message;
    }
  };

  /** Whether a window is over, but not the lease. */
  const isRenewing = (error: SnowmintError) => error.code === "WINDOW_CLOSED" && generator!.status().lost === null;

  const list = () => {
    byId("total").textContent = grouped(total);
    const items = [];
    for (let i = 1; i <= Math.min(total, LISTED); i++)
      items.push(item(generator!.layout, recent[(total - i) % LISTED]!));
    byId("recent").replaceChildren(...items);
  };

  const run = () => {
    const refusal = burst(Infinity);
    const now = performance.now();
    if (refusal) return say(status, refusal);
    if (now - since >= every) {
      byId("rate").textContent = grouped(Math.round(((total - counted) * 1000) / (now - since)));
      counted = total;
      since = now;
      list();
    }
    frame = requestAnimationFrame(run);
  };

  const stop = () => {
    if (!frame) return;
    cancelAnimationFrame(frame);
    frame = 0;
    start.textContent = "Start minting";
    one.disabled = false;
    byId("rate").textContent = "0";
    if (generator) list();
    say(status, `Stopped after ${grouped(total)} IDs.`);
  };

  /** Another layout or node is another generator. */
  const reset = () => {
    stop();
    choice++;
    pending = null;
    clearInterval(watch);
    void generator?.close();
    generator = null;
    total = 0;
    recent.length = 0;
    byId("total").textContent = "0";
    byId("recent").replaceChildren();
    say(byId("vouched"), "");
    say(status, "");
    showWindow();
    start.disabled = one.disabled = layout === null;
  };

  start.addEventListener("click", async () => {
    if (frame) return stop();
    if (!(await ready()) || frame) return;
    say(status, "Minting.");
    start.textContent = "Stop";
    // The burst takes every available ID.
    one.disabled = true;
    counted = total;
    since = performance.now();
    frame = requestAnimationFrame(run);
  });
  one.addEventListener("click", async () => {
    if (!(await ready())) return;
    const refusal = burst(1);
    list();
    if (refusal || !frame) say(status, refusal || `Minted ${recent[(total - 1) % LISTED]}.`);
  });
  node.addEventListener("input", reset);

  return {
    use(next) {
      if (layout && next && String(layout) === String(next)) return;
      layout = next;
      const name = layout?.name ? systemName(layout.name) : layout && String(layout);
      say(byId("mint-layout"), name ?? "the layout above, once it is one");
      say(byId("mint-order"), layout && increases(layout) ? "Its IDs strictly increase." : "");
      if (layout) {
        const most = layout.nodes - 1;
        node.max = `${most}`;
        if (node.valueAsNumber > most) node.value = "";
        say(byId("node-hint"), most ? `, 0 to ${grouped(most)}` : ", only 0");
      }
      reset();
    },
  };
}

/**
 * Leases a node, any free one if the text is empty. If the page cannot lease, such as over plain HTTP, the user vouches
 * for the node, and the reason is returned.
 */
async function leaseOrVouch(layout: Layout, node: string): Promise<[generator: Snowflake, why: string]> {
  const options = { layout, maxAheadMs: FRAME_MS };
  try {
    return [await Snowflake.lease(node ? { ...options, node } : options), ""];
  } catch (error) {
    if (!(error instanceof SnowmintError && ["INVALID_STORE", "STORE_UNAVAILABLE"].includes(error.code))) throw error;
    return [new Snowflake({ ...options, node: node || "0" }), `No lease: ${error.message}.`];
  }
}

function item(layout: Layout, id: bigint): HTMLElement {
  const { timestampMs, fields } = layout.decode(id);
  const parts = Object.entries(fields).filter(([name]) => name !== "time");
  const said = [`${utc(timestampMs)} UTC`, ...parts.map(([name, value]) => `${name} ${grouped(value)}`)];
  const link = element("a", { href: hashOf({ id: `${id}`, as: shortLayout(layout) }) }, `${id}`);
  return element("li", {}, element("strong", { class: "code" }, link), element("span", {}, said.join(" · ")));
}
