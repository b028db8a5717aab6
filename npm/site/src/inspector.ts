// Who could have minted this?
import { type Candidate, inspect, Layout } from "snowmint";
import { byId, element, say } from "./element.js";
import { formList } from "./forms.js";
import { candidateName } from "./names.js";
import { idIn, isBeyond64Bits } from "./paste.js";
import { bar, fieldTable } from "./picture.js";
import { timeElement } from "./time.js";

/** What to try, each as its system publishes it. */
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
/** What the page says about the confidence of the first candidate. */
const SURE = {
  high: "All else fits far worse.",
  medium: "All else fits worse.",
  low: "An ID of an unknown system could look the same.",
};
const BEYOND = "That is beyond 64 bits: integers are IDs from -2^63 to 2^64-1, which is 18446744073709551615.";

/** Starts this part of the page; `changed` hears of every text that is inspected. */
export function startInspector(changed: (text: string) => void): { show(text: string): void } {
  const input = byId<HTMLInputElement>("id");
  const read = () => {
    show(input.value);
    changed(idIn(input.value));
  };
  input.addEventListener("input", read);
  for (const [what, id] of EXAMPLES) {
    const button = element("button", { type: "button", class: "link" }, what);
    button.addEventListener("click", () => {
      input.value = id;
      read();
    });
    byId("examples").append(button, " ");
  }
  return {
    show(text) {
      input.value = text;
      show(text);
    },
  };
}

function show(pasted: string): void {
  const nowMs = Date.now();
  const text = idIn(pasted);
  const candidates = text ? inspect(text, { now: nowMs }) : [];
  const plausible = candidates.filter((candidate) => candidate.plausible);
  // Without a plausible candidate, show the unlikely ones; otherwise the first, and those that are as good.
  const main = plausible.length
    ? plausible.filter(({ confidence }, i) => i === 0 || confidence === "tied")
    : candidates;
  const rest = candidates.slice(main.length);
  byId("candidates").replaceChildren(...main.map((candidate, i) => row(candidate, i === 0)));
  const unlikely = byId<HTMLDetailsElement>("unlikely");
  unlikely.hidden = rest.length === 0;
  unlikely.querySelector("summary")!.textContent = `${rest.length} more, less likely`;
  unlikely.querySelector("ol")!.replaceChildren(...rest.map((candidate) => row(candidate, false)));
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
function row(candidate: Candidate, open: boolean): HTMLElement {
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
    if (details.children.length === 1) details.append(body(candidate));
  };
  details.addEventListener("toggle", fill);
  if (open) {
    fill();
    details.open = true;
  }
  return element("li", {}, details);
}

/** The reason without the date and the name, which stand beside it. */
function reasonOf({ reason, layout }: Candidate): string {
  return reason.replace(/time [^,]+, /, "").replace(`before ${layout} began`, "before it began");
}

function body(candidate: Candidate): HTMLElement {
  const { layoutText, parts, form } = candidate;
  const read = element("p", { class: "note" }, `Read as ${form.replaceAll("_", " ")}.`);
  if (layoutText === null || parts === null) return element("div", { class: "body" }, read);
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
  return element("div", { class: "body" }, bar(layout, id), fields, formList(id), read);
}
