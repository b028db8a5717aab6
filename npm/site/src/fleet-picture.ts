// The windows of nodes over time, as an SVG.
import type { Fleet, Span } from "./fleet-engine.js";

const LANE = 44;
const LEFT = 70;
/** The width of a window, in pixels of the page. */
const WINDOW = 90;
/** How many of the last claims can be in sight. */
const CLAIMS = 400;

function svg(
  tag: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: (Node | string)[]
): Element {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, `${value}`);
  made.append(...children);
  return made;
}

/** Draws the last windows of a fleet in a width of the page; with an ID that was minted twice, the time around it. */
export function picture(fleet: Fleet, width: number): Element {
  const { nodes, windowMs, duplicate } = fleet;
  const shown = (width - LEFT) / WINDOW;
  // The present is before the end of the line, as windows end later than now.
  const toMs = (duplicate?.atMs ?? fleet.nowMs) + (duplicate ? shown / 2 : Math.min(2, shown / 3)) * windowMs;
  const fromMs = toMs - shown * windowMs;
  const place = (ms: number) => LEFT + ((width - LEFT) * (ms - fromMs)) / (toMs - fromMs);
  const inside = (ms: number) => Math.min(width, Math.max(LEFT, place(ms)));
  const top = (node: number) => LANE * node;
  const height = LANE * nodes + 26;
  const spans = fleet.lastSpans(CLAIMS).filter(({ startMs, endMs }) => endMs > fromMs && startMs < toMs);
  const culprits: readonly number[] = duplicate?.claims ?? [];
  // Overlapping windows cover each other: the claims of the duplicate are drawn last.
  spans.sort((a, b) => Number(culprits.includes(a.claim)) - Number(culprits.includes(b.claim)) || a.claim - b.claim);
  const made = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `Windows of ${nodes} nodes`,
  });
  for (let node = 0; node < nodes; node++) {
    made.append(
      svg("text", { x: 8, y: top(node) + LANE / 2 + 5 }, `node ${node}`),
      svg("line", { class: "lane", x1: 0, x2: width, y1: top(node + 1), y2: top(node + 1) }),
    );
  }
  const block = ({ claim, process, node, startMs, endMs, mintedMs }: Span) => {
    const [x, end] = [inside(startMs), inside(endMs)];
    const culprit = culprits.indexOf(claim);
    // The two claims of a duplicate share the lane: upper and lower half.
    const y = top(node) + (culprit === 1 ? LANE / 2 : 3);
    const tall = culprit < 0 ? LANE - 6 : LANE / 2 - 3;
    const [first, last] = mintedMs;
    made.append(
      svg("rect", {
        class: `granted-window process-${process}${culprit < 0 ? "" : " culprit"}`,
        x,
        y,
        width: Math.max(1, end - x),
        height: tall,
      }),
    );
    if (last > first) {
      const from = inside(first);
      const bar = { class: "minted", x: from, y: y + tall - 5, width: Math.max(1, inside(last) - from), height: 4 };
      made.append(svg("rect", bar));
    }
    if (end - x > 70) made.append(svg("text", { x: x + 5, y: y + 14 }, `process ${process}`));
  };
  spans.forEach(block);
  if (duplicate) {
    const x = place(duplicate.atMs);
    const y = top(duplicate.node) + LANE / 2;
    made.append(
      svg("line", { class: "twice", x1: x, x2: x, y1: 0, y2: LANE * nodes }),
      svg("circle", { class: "twice", cx: x, cy: y, r: 14 }),
      svg("text", { class: "twice-words", x: x - 45, y: height - 8 }, "minted twice"),
    );
  } else {
    const x = place(fleet.nowMs);
    made.append(
      svg("line", { class: "present", x1: x, x2: x, y1: 0, y2: LANE * nodes }),
      svg("text", { x: x - 12, y: height - 8 }, "now"),
    );
  }
  return made;
}
