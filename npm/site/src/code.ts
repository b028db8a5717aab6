// The lines that use a layout, in each language.
import type { Layout } from "snowmint";

/** A language that the page writes. */
export type Language = "python" | "javascript" | "rust";

/** What makes a generator of a layout and a node, and an ID. */
export function codeOf(language: Language, layout: Layout, node: number): string {
  const named = `"${layout.name ?? layout}"`;
  switch (language) {
    case "python":
      return `from snowmint import Snowflake

gen = Snowflake(layout=${named}, node=${node})  # without node, one is leased
id = gen.next_id()`;
    case "javascript":
      return `import { Snowflake } from "snowmint";

const gen = new Snowflake({ layout: ${named}, node: ${node} }); // or await Snowflake.lease({ layout })
const id = gen.nextId(); // a bigint`;
    case "rust":
      return `use snowmint::{Layout, Snowflake};

let layout = Layout::${layout.name ? "preset" : "parse"}(${named})?;
let generator = Snowflake::new(&layout, ${node})?; // or Snowflake::lease
let id = generator.next_id()?;`;
  }
}
