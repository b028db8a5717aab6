// A generator in the page, at work.
import { type Layout, Snowflake, SnowmintError } from "snowmint";
import { byId, element, say } from "./element.js";
import { increases } from "./fields.js";
import { grouped, utc } from "./time.js";

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
  let total = 0;
  let frame = 0;
  let counted = 0;
  let since = 0;

  /** Mints until the burst is over, or the generator has no more for now. */
  const burst = (limit: number): string => {
    const until = performance.now() + BURST_MS;
    try {
      generator ??= new Snowflake({ layout: layout!, node: node.value, maxAheadMs: FRAME_MS });
      for (let left = limit; left > 0 && performance.now() < until; left -= RUN)
        for (let i = Math.min(left, RUN); i > 0; i--) {
          const id = generator.tryNextId();
          recent[total++ % LISTED] = id;
        }
      return "";
    } catch (error) {
      if (!(error instanceof SnowmintError)) throw error;
      // More will come by itself.
      if (error.code === "EXHAUSTED" && limit > 1) return "";
      stop();
      return error.message;
    }
  };

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
    generator = null;
    total = 0;
    recent.length = 0;
    byId("total").textContent = "0";
    byId("recent").replaceChildren();
    say(status, "");
    start.disabled = one.disabled = layout === null;
  };

  start.addEventListener("click", () => {
    if (frame) return stop();
    say(status, "Minting.");
    start.textContent = "Stop";
    // The burst has taken what there is.
    one.disabled = true;
    counted = total;
    since = performance.now();
    frame = requestAnimationFrame(run);
  });
  one.addEventListener("click", () => {
    const refusal = burst(1);
    if (generator) list();
    if (refusal || !frame) say(status, refusal || `Minted ${recent[(total - 1) % LISTED]}.`);
  });
  node.addEventListener("input", reset);

  return {
    use(next) {
      if (layout && next && String(layout) === String(next)) return;
      layout = next;
      say(byId("mint-layout"), layout ? (layout.name ?? String(layout)) : "the layout above, once it is one");
      say(byId("mint-order"), layout && increases(layout) ? "Its IDs strictly increase." : "");
      if (layout) {
        const most = layout.nodes - 1;
        node.max = `${most}`;
        if (node.valueAsNumber > most) node.value = "0";
        say(byId("node-hint"), most ? `, 0 to ${grouped(most)}` : ", only 0");
      }
      reset();
    },
  };
}

function item(layout: Layout, id: bigint): HTMLElement {
  const { timestampMs, fields } = layout.decode(id);
  const parts = Object.entries(fields).filter(([name]) => name !== "time");
  const said = [`${utc(timestampMs)} UTC`, ...parts.map(([name, value]) => `${name} ${grouped(value)}`)];
  return element("li", {}, element("strong", { class: "code" }, `${id}`), element("span", {}, said.join(" · ")));
}
