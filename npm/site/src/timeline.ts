// A granted window on a line of time that flows to the left.
import type { LeaseWindow } from "snowmint";
import { element } from "./element.js";
import { utc } from "./time.js";

/** The line shows at least this much time on either side of the present, ms. */
const LEAST_MS = 4000;

/** Draws a window: a block from its start to its end, with the present in the middle of the line. */
export function timeline({ start, end }: LeaseWindow, nowMs: number): HTMLElement {
  const sideMs = Math.max(LEAST_MS, 1.2 * (end - nowMs));
  /** Returns the place of an instant on the line, in percent of its length. */
  const place = (ms: number) => Math.min(100, Math.max(0, 50 + (50 * (ms - nowMs)) / sideMs));
  const clock = (ms: number) => utc(ms).split(" ").at(-1)!;
  const block = element("span", { class: "granted" });
  block.style.left = `${place(start)}%`;
  block.style.right = `${100 - place(end)}%`;
  return element(
    "div",
    {
      class: "timeline",
      role: "img",
      "aria-label": `Window from ${utc(start)} to ${utc(end)} UTC, now ${utc(nowMs)}`,
    },
    element("span", { class: "now" }, `now ${clock(nowMs)}`),
    element("div", { class: "line" }, block),
    element("span", { class: "start" }, `start ${clock(start)}`),
    element("span", { class: "end" }, `end ${clock(end)}`),
  );
}
