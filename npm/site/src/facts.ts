// Facts about a layout.
import type { Layout } from "snowmint";
import { element } from "./element.js";
import { plural } from "./picture.js";
import { grouped, sinceNow, utcDay } from "./time.js";

/** Returns terms and facts about a layout, for a dl. */
export function factsOf(layout: Layout, nowMs: number): HTMLElement[] {
  const { endsAtMs, signedUntilMs } = layout;
  const all = BigInt(layout.nodes) * BigInt(layout.idsPerSecond);
  return [
    fact(endsAtMs < nowMs ? "Ended" : "Ends", utcDay(endsAtMs), distance(endsAtMs, nowMs), endsAtMs < nowMs),
    signedUntilMs === null
      ? fact("In a signed 64-bit column", "never negative", "bit 63 stays 0")
      : fact(
          "In a signed 64-bit column",
          `negative from ${utcDay(signedUntilMs)}`,
          distance(signedUntilMs, nowMs),
          true,
        ),
    layout.jsSafe
      ? fact("As a JavaScript number", "safe", `${plural(layout.bits)}, 53 are exact`)
      : fact("As a JavaScript number", "not safe: use bigint or text", `${plural(layout.bits)}, 53 are exact`),
    fact("Nodes", grouped(layout.nodes), layout.nodes === 1 ? "a single generator" : "generators at once"),
    fact("IDs of a node", `${grouped(layout.idsPerTick)} per tick`, `${grouped(layout.idsPerSecond)} per second`),
    fact("IDs of all nodes", `${grouped(all)} per second`, "at most"),
  ];
}

function fact(term: string, value: string, more: string, warn = false): HTMLElement {
  const made = element("div", warn ? { class: "warn" } : {}, element("dt", {}, term), element("dd", {}, value));
  made.append(element("dd", { class: "note" }, more));
  return made;
}

function distance(ms: number, nowMs: number): string {
  return Math.abs(ms) > 8.64e15 ? "beyond all dates here" : sinceNow(ms, nowMs);
}
