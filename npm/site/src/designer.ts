// A layout, from sliders, a preset or its text: the text is what counts, and the rest follows from it.
import { Layout, layouts, SnowmintError } from "snowmint";
import { codeOf, type Language } from "./code.js";
import { copyButton } from "./copy.js";
import { byId, element, say } from "./element.js";
import { factsOf } from "./facts.js";
import { type Field, fieldsOf, type Kind, kindOf } from "./fields.js";
import { linkTo, shortLayout } from "./link.js";
import { systemName } from "./names.js";
import { bar, plural, swatch } from "./picture.js";
import { utc } from "./time.js";

/** How far the sliders reach; a text may go further. */
const MOST: Readonly<Record<Kind, number>> = { unused: 11, time: 56, node: 32, sequence: 32, random: 56 };
/** Ticks to choose from, ms. */
const TICKS = [1, 10, 100, 1000, 10_000, 60_000, 3_600_000];

type Row = Pick<Field, "name" | "bits" | "kind" | "nodesAbove">;

/**
 * Starts this part of the page. `changed` is called with every valid layout, and with null for a text that is not a layout.
 * `show` shows the layout of a text, or the preset of a name.
 */
export function startDesigner(changed: (layout: Layout | null) => void): { show(text: string): void } {
  const input = byId<HTMLInputElement>("layout");
  const preset = byId<HTMLSelectElement>("preset");
  const epoch = byId<HTMLInputElement>("epoch");
  const tick = byId<HTMLSelectElement>("tick");
  const code = byId("code");
  let layout = layouts.SNOWMINT;
  let rows = rowsOf(layout);

  const showCode = () => {
    const { value } = document.querySelector<HTMLInputElement>("input[name=language]:checked")!;
    say(code, codeOf(value as Language, layout));
  };

  /** Reads the text, and leaves it as the user types it. */
  const read = () => {
    let error = "";
    try {
      layout = Layout.parse(input.value.trim());
    } catch (refusal) {
      if (!(refusal instanceof SnowmintError)) throw refusal;
      error = refusal.message;
    }
    say(byId("layout-error"), error);
    input.setAttribute("aria-invalid", `${error !== ""}`);
    byId("design").classList.toggle("stale", error !== "");
    if (error) preset.value = "";
    else follow();
    changed(error ? null : layout);
  };

  /** Everything that follows from the layout. */
  const follow = () => {
    const now = rowsOf(layout);
    const same = now.length === rows.length && now.every(({ name }, i) => name === rows[i]!.name);
    rows = now;
    if (same && byId("sliders").children.length) for (const { name, bits } of rows) setSlider(name, bits);
    else byId("sliders").replaceChildren(...rows.map((row) => slider(row, (bits) => move(row.name, bits))));
    preset.value = layout.name ?? "";
    const date = new Date(layout.epochMs);
    epoch.value = Number.isNaN(date.getTime()) ? "" : date.toISOString().split("T")[0]!;
    say(byId("epoch-exact"), `Tick 0 is ${utc(layout.epochMs)} UTC.`);
    const ticks = TICKS.includes(layout.tickMs) ? TICKS : [layout.tickMs, ...TICKS];
    tick.replaceChildren(...ticks.map((ms) => element("option", { value: `${ms}` }, tickName(ms))));
    tick.value = `${layout.tickMs}`;
    byId("facts").replaceChildren(...factsOf(layout, Date.now()));
    byId("picture").replaceChildren(bar(layout));
    byId("layout-link").replaceChildren(...linkTo("this layout", { layout: shortLayout(layout) }));
    showSum();
    showCode();
  };

  const showSum = () => {
    const sum = rows.reduce((sum, { bits }) => sum + bits, 0);
    const rest = sum > 64 ? `${sum - 64} too many` : `${64 - sum} to spare`;
    byId("sum").className = sum > 64 ? "error" : "note";
    say(byId("sum"), `${plural(sum)} of 64: ${rest}.`);
  };

  const write = (epochMs: number, tickMs: number) => {
    const fields = rows.filter(({ bits }) => bits > 0).map(({ name, bits }) => `${name}:${bits}`);
    const text = `${fields.join()};epoch=${epochMs};tick=${tickMs}ms`;
    input.value = text;
    read();
    // Of numbers that make a layout the canonical text is shown.
    if (input.getAttribute("aria-invalid") === "false") input.value = String(layout);
  };

  const move = (name: string, bits: number) => {
    rows = rows.map((row) => (row.name === name ? { ...row, bits } : row));
    showSum();
    write(layout.epochMs, layout.tickMs);
  };

  const show = (text: string) => {
    input.value = /^\w+$/.test(text) && Object.hasOwn(layouts.all(), text) ? String(Layout.preset(text)) : text;
    read();
  };

  input.addEventListener("input", read);
  // Leaving the field shows the canonical text.
  input.addEventListener("change", () => {
    if (input.getAttribute("aria-invalid") === "false") input.value = String(layout);
  });
  preset.append(element("option", { value: "" }, "your own"));
  for (const { name } of Object.values(layouts.all()))
    if (name) preset.append(element("option", { value: name }, systemName(name)));
  preset.addEventListener("change", () => show(preset.value || String(layout)));
  epoch.addEventListener("change", () => {
    if (!Number.isNaN(epoch.valueAsNumber)) write(epoch.valueAsNumber, layout.tickMs);
  });
  tick.addEventListener("change", () => write(layout.epochMs, Number(tick.value)));
  for (const radio of document.querySelectorAll("input[name=language]")) radio.addEventListener("change", showCode);
  input.after(copyButton("the layout text", () => input.value));
  code.after(copyButton("the code", () => code.textContent));

  return { show };
}

/** Returns the fields of a layout, and possible fields with 0 bits. */
function rowsOf(layout: Layout): Row[] {
  const rows: Row[] = fieldsOf(layout);
  const none = (name: string) => ({ name, bits: 0, kind: kindOf(name), nodesAbove: 0 });
  if (!rows.some(({ kind }) => kind === "unused")) rows.unshift(none("unused"));
  if (!rows.some(({ kind }) => kind === "sequence")) rows.push(none("sequence"));
  if (!rows.some(({ kind }) => kind === "node"))
    rows.splice(
      rows.findIndex(({ kind }) => kind === "sequence"),
      0,
      none("node"),
    );
  return rows;
}

function slider({ name, bits, kind, nodesAbove }: Row, moved: (bits: number) => void): HTMLElement {
  const id = `bits-${name}`;
  const input = element("input", {
    id,
    type: "range",
    min: kind === "time" ? "1" : "0",
    max: `${Math.max(MOST[kind], bits)}`,
  });
  const shown = element("span", { class: "bits", "aria-hidden": "true" }, `${bits}`);
  const set = () => {
    say(shown, input.value);
    input.setAttribute("aria-valuetext", plural(input.valueAsNumber));
  };
  input.value = `${bits}`;
  set();
  input.addEventListener("input", () => {
    set();
    moved(input.valueAsNumber);
  });
  return element(
    "div",
    { class: "slider" },
    element("label", { for: id }, swatch({ kind, nodesAbove }), name),
    input,
    shown,
  );
}

function setSlider(name: string, bits: number): void {
  const input = byId<HTMLInputElement>(`bits-${name}`);
  if (input.valueAsNumber === bits) return;
  input.max = `${Math.max(Number(input.max), bits)}`;
  input.value = `${bits}`;
  input.setAttribute("aria-valuetext", plural(bits));
  say(input.nextElementSibling as HTMLElement, `${bits}`);
}

function tickName(ms: number): string {
  return ms % 1000 ? `${ms} ms` : `${ms / 1000} s`;
}
