// The bits of an ID, drawn to scale, and the table that says the same in words.
import type { Layout } from "snowmint";
import { element } from "./element.js";
import { allBitsOf, bitsOf, type Field, fieldClass, fieldsOf } from "./fields.js";
import { grouped } from "./time.js";

/**
 * Draws all 64 bits: a block for each field, its width to scale; with an ID, a mark for each bit that is 1. A line below names
 * fields of one or two bits where their blocks are too narrow for a name.
 */
export function bar(layout: Layout, id?: bigint): HTMLElement {
  const said = fieldsOf(layout).map(({ name, bits }) => `${name} ${bits}`);
  const above = layout.bits < 64 ? `; unused above them: ${plural(64 - layout.bits)}` : "";
  const made = element("div", {
    class: "bar",
    role: "img",
    "aria-label": `${plural(layout.bits)}, high to low: ${said.join(", ")}${above}`,
  });
  const small = element("p", { class: "small-fields", "aria-hidden": "true" });
  for (const field of allBitsOf(layout)) {
    const drawn = block(fieldClass(field), field.bits);
    drawn.title = `${field.name}, ${plural(field.bits)}`;
    drawn.append(element("span", { class: "name" }, field.name));
    if (field.bits <= 2) {
      const named = `${field.name}, ${plural(field.bits)}`;
      small.append(element("span", { class: `small-${field.bits}` }, swatch(field), named));
    }
    if (id !== undefined) {
      const digits = [...binary(field, id)].map((digit) => element("i", digit === "1" ? { class: "one" } : {}));
      drawn.append(element("span", { class: "digits" }, ...digits));
    }
    made.append(drawn);
  }
  return element("div", { class: "bar-and-names" }, made, small);
}

/** A row a field: its name, width and place, and its value in decimal and binary. */
export function fieldTable(layout: Layout, id: bigint): HTMLElement {
  const head = ["Field", "Bits", "Value"].map((title) => element("th", { scope: "col" }, title));
  const rows = fieldsOf(layout).map((field) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, swatch(field), field.name),
      element("td", {}, `${field.bits}`, element("small", {}, ` ${place(field)}`)),
      element(
        "td",
        { class: "value" },
        element("span", { class: "code" }, grouped(bitsOf(field, id))),
        " ",
        element("span", { class: "code" }, spaced(binary(field, id))),
      ),
    ),
  );
  const caption = element("caption", { class: "unseen" }, "Bit fields, high to low");
  return element("table", {}, caption, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
}

/** The mark of a field beside its name. */
export function swatch(field: Pick<Field, "kind" | "nodesAbove">): HTMLElement {
  return element("span", { class: `${fieldClass(field)} swatch`, "aria-hidden": "true" });
}

/** `1 bit`, `5 bits`. */
export function plural(bits: number): string {
  return `${bits} bit${bits === 1 ? "" : "s"}`;
}

function block(classes: string, bits: number): HTMLElement {
  const made = element("span", { class: classes });
  // The policy of the page forbids style attributes, not what scripts set.
  made.style.flexGrow = `${bits}`;
  return made;
}

function place({ bits, low }: Field): string {
  return bits === 1 ? `(${low})` : `(${low + bits - 1}–${low})`;
}

function binary(field: Field, id: bigint): string {
  return bitsOf(field, id).toString(2).padStart(field.bits, "0");
}

/** Groups of eight, from the right, where lines may break. */
function spaced(digits: string): string {
  return digits.replace(/\B(?=(?:.{8})+$)/g, " ");
}
