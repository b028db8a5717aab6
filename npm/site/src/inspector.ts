// Who could have minted this?
import { type Candidate, inspect, Layout, SnowmintError } from "snowmint";
import { byId, element, say } from "./element.js";
import { formList } from "./forms.js";
import { findLayout, linkTo, shortLayout } from "./link.js";
import { candidateName } from "./names.js";
import { idIn, isBeyond64Bits } from "./paste.js";
import { bar, fieldTable } from "./picture.js";
import { timeElement } from "./time.js";

/** Examples to try, each as its system publishes it. The page opens with the first one. */
const EXAMPLES = [
  ["a tweet", "1541815603606036480"],
  ["a Discord message", "175928847299117063"],
  ["a TikTok video", "6854717870488702213"],
  ["an Instagram post", "DW1nTDiDvnF"],
  ["a LinkedIn thread", "6685980502161199104"],
  ["a Bluesky post", "3laulgolrfz2f"],
  ["a Mastodon status", "103270115826048975"],
  ["a pin", "241294492511762325"],
  ["a TiDB timestamp", "443852055297916932"],
  ["a Sonyflake", "45eec4a4600041b"],
  ["a UUID", "8c45583a-0e1f-11ec-804d-005056219395"],
  ["a ULID", "01ARZ3NDEKTSV4RRFFQ69G5FAV"],
  ["an ObjectId", "507f1f77bcf86cd799439011"],
  ["a TypeID", "prefix_01h455vb4pex5vsknk084sn02q"],
  ["a KSUID", "0ujtsYcgvSTl8PAuAdqWYSMnLOv"],
  ["an X-Ray trace", "1-58406520-a006649127e371903a2de979"],
] as const;

const NOTHING =
  "No system known here writes IDs like that. What can be read: 64-bit IDs in decimal, in hex, in base 32, 36, 58 or 62 of " +
  "full width, or with a prefix; codes of Instagram and Bluesky; UUIDs, ULIDs, ObjectIds, TypeIDs, KSUIDs, xids, cuids, " +
  "SCRU128, and IDs of Firebase, Redis streams, X-Ray and Misskey.";
/** Describes the confidence in the first candidate. */
const SURE = {
  high: "All else fits far worse.",
  medium: "All else fits worse.",
  low: "An ID of an unknown system could look the same.",
};
const NOT_64_BITS = "No layout decodes this text, as it is not a 64-bit ID.";
const BEYOND = "That is beyond 64 bits: integers are IDs from -2^63 to 2^64-1, which is 18446744073709551615.";

/**
 * Starts this part of the page with an example. `changed` is called with every text that a user enters.
 * `show` shows a text; with the text of a layout, just the decoding in that layout.
 */
export function startInspector(changed: (text: string) => void): { show(text: string, as?: string | null): void } {
  const input = byId<HTMLInputElement>("id");
  const mark = byId("example");
  const enter = (text: string, example = "", as: string | null = null) => {
    input.value = text;
    mark.hidden = !example;
    say(mark, example && `Example: ${example}`);
    byId("only").hidden = as === null;
    if (as === null) show(text);
    else showIn(text, as);
  };
  const read = () => {
    enter(input.value);
    changed(idIn(input.value));
  };
  input.addEventListener("input", read);
  // A click selects the example, so that typing or pasting replaces it. The key Tab selects it without help.
  input.addEventListener("click", () => {
    if (!mark.hidden) input.select();
  });
  byId("only").addEventListener("click", () => {
    read();
    input.focus();
  });
  for (const [what, id] of EXAMPLES) {
    const button = element("button", { type: "button", class: "link" }, what);
    button.addEventListener("click", () => {
      enter(id, what);
      changed(id);
    });
    byId("examples").append(button, " ");
  }
  const [what, id] = EXAMPLES[0];
  enter(id, what);
  return { show: (text, as) => enter(text, "", as) };
}

/** Shows just the decoding of an ID in one layout. */
function showIn(pasted: string, as: string): void {
  byId("unlikely").hidden = true;
  byId("unlikely").querySelector("ol")!.replaceChildren();
  try {
    const layout = findLayout(as);
    const found = decoding(idIn(pasted), layout);
    byId("candidates").replaceChildren(...(found ? [row(found, true, idIn(pasted))] : []));
    say(byId("verdict"), found ? `Decoded by one layout: ${candidateName(found)}.` : NOT_64_BITS);
  } catch (error) {
    if (!(error instanceof SnowmintError)) throw error;
    byId("candidates").replaceChildren();
    say(byId("verdict"), `The layout of this link does not decode the ID: ${error.message}.`);
  }
}

/**
 * Finds the candidate of a layout, or makes one for a layout of no known system; null for a text that is not a 64-bit ID.
 *
 * Throws `INVALID_ID` if the ID sets bits that the layout does not have.
 */
function decoding(text: string, layout: Layout): Candidate | null {
  const decoded = inspect(text).filter(({ parts }) => parts !== null);
  const isOf = ({ layoutText }: Candidate) =>
    layoutText !== null && String(Layout.parse(layoutText)) === String(layout);
  const [first] = decoded;
  const known = decoded.find(isOf);
  if (known || !first) return known ?? null;
  const parts = layout.decode(Layout.parse(first.layoutText!).encode(first.parts!));
  const { timestampMs, timestampUs, timestamp } = parts;
  const other = { kind: "snowflake", layout: null, layoutText: String(layout), parts, form: first.form } as const;
  return { ...other, timestampMs, timestampUs, timestamp, confidence: "low", plausible: true, reason: "" };
}

function show(pasted: string): void {
  const nowMs = Date.now();
  const text = idIn(pasted);
  const candidates = text ? inspect(text, { now: nowMs }) : [];
  const plausible = candidates.filter((candidate) => candidate.plausible);
  // Shows the first plausible candidate and all that are tied with it, or the unlikely candidates if none is plausible.
  const main = plausible.length
    ? plausible.filter(({ confidence }, i) => i === 0 || confidence === "tied")
    : candidates;
  const rest = candidates.slice(main.length);
  byId("candidates").replaceChildren(...main.map((candidate, i) => row(candidate, i === 0, text)));
  const unlikely = byId<HTMLDetailsElement>("unlikely");
  unlikely.hidden = rest.length === 0;
  unlikely.querySelector("summary")!.textContent = `${rest.length} more, less likely`;
  unlikely.querySelector("ol")!.replaceChildren(...rest.map((candidate) => row(candidate, false, text)));
  const taken = text === pasted.trim() ? "" : `Taken from it: ${text}. `;
  say(byId("verdict"), text ? taken + verdict(text, main, plausible.length) : "");
}

function verdict(text: string, [first, ...tied]: Candidate[], plausible: number): string {
  if (!first) return isBeyond64Bits(text) ? BEYOND : NOTHING;
  const name = candidateName(first);
  switch (first.confidence) {
    case "unlikely":
      return `Nothing fits well. The least unlikely: ${name}.`;
    case "tied":
      return `Equally likely: ${[name, ...tied.map(candidateName)].join(", ")}.`;
    default: {
      const others = plausible === 1 ? "Nothing else fits." : `${plausible - 1} more could have minted it.`;
      return `Most likely: ${name}. ${SURE[first.confidence]} ${others}`;
    }
  }
}

/** Makes the row of a candidate; its content is made when the row is first opened. */
function row(candidate: Candidate, open: boolean, text: string): HTMLElement {
  const { timestampMs } = candidate;
  const summary = element(
    "summary",
    {},
    element("strong", {}, candidateName(candidate)),
    element("span", { class: "when" }, timestampMs === null ? "no time in it" : timeElement(timestampMs)),
    element("span", { class: "reason" }, reasonOf(candidate)),
  );
  const details = element("details", {}, summary);
  const fill = () => {
    if (details.children.length === 1) details.append(body(candidate, text));
  };
  details.addEventListener("toggle", fill);
  if (open) {
    fill();
    details.open = true;
  }
  return element("li", {}, details);
}

/** The reason without the date and the name, which the page shows beside it. */
function reasonOf({ reason, layout }: Candidate): string {
  return reason.replace(/time [^,]+, /, "").replace(`before ${layout} began`, "before it began");
}

function body(candidate: Candidate, text: string): HTMLElement {
  const { layoutText, parts, form } = candidate;
  const read = element("p", { class: "note" }, `Read as ${form.replaceAll("_", " ")}.`);
  if (layoutText === null || parts === null)
    return element(
      "div",
      { class: "body" },
      read,
      element("p", { class: "share" }, ...linkTo("this ID", { id: text })),
    );
  const layout = Layout.parse(layoutText);
  const id = layout.encode(parts);
  const fields = element("div", {
    class: "scroll",
    tabindex: "0",
    role: "region",
    "aria-label": `Fields of ${candidateName(candidate)}`,
  });
  fields.append(fieldTable(layout, id));
  read.append(" Layout: ", element("span", { class: "code" }, String(layout)));
  const link = element("p", { class: "share" }, ...linkTo("this decoding", { id: `${id}`, as: shortLayout(layout) }));
  return element("div", { class: "body" }, bar(layout, id), fields, formList(id), read, link);
}
