// Prints for a terminal of 80 columns, in colour if it is a terminal and NO_COLOR is not set.
const codes = { bold: 1, dim: 2, red: 31, green: 32 };
const isColoured = process.stdout.isTTY && !process.env.NO_COLOR;
/** Returns the text in bold, dim, red or green. */
export const style = (name, text) => (isColoured ? `\x1b[${codes[name]}m${text}\x1b[0m` : text);

/** Prints a text in lines of 80 columns, all indented. */
export function say(text, indent = "    ") {
  const line = new RegExp(`\\S.{0,${79 - indent.length}}(?=\\s|$)`, "g");
  for (const part of text.match(line)) console.log(indent + part.trimEnd());
}

/** Prints a heading, and perhaps sentences. */
export function heading(title, sentences = "") {
  console.log(`\n${style("bold", title)}`);
  if (sentences) say(sentences, "  ");
}

/** Prints rows of texts in columns below a head. In the last column "0" and "agree" are green, other words red. */
export function table(head, rows, right = []) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  const pad = (row) =>
    row.map((cell, at) => (right.includes(at) ? cell.padStart(widths[at]) : cell.padEnd(widths[at])));
  console.log(style("dim", `  ${pad(head).join("  ")}`));
  for (const row of rows) {
    const cells = pad(row);
    const last = style(["0", "agree"].includes(row.at(-1)) ? "green" : "red", cells.pop().trimEnd());
    console.log(`  ${[...cells, last].join("  ")}`);
  }
}

/** Prints the bits of an ID, and the fields of its layout. */
export function picture(layout, id) {
  const bits = BigInt(id).toString(2).padStart(layout.bits, "0");
  const values = layout.decode(id).fields;
  const rows = ["", "", ""];
  let from = 0;
  for (const field of String(layout).split(";")[0].split(",")) {
    const [name, width] = field.split(":");
    const cells = [bits.slice(from, (from += Number(width))), `${name} ${width}`, `${values[name] ?? ""}`];
    const room = Math.max(...cells.map((cell) => cell.length));
    for (const [at, cell] of cells.entries()) rows[at] += `${cell.padEnd(room)}|`;
  }
  for (const row of rows) console.log(`  ${row.replace(/[ |]+$/, "")}`);
}
