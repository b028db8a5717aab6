// The lines that use a layout, in each language. Each leases its node, because all users would copy the same number.
import type { Layout } from "snowmint";

/** A language that the page writes. */
export type Language = "python" | "javascript" | "rust";

/** Code that makes a generator of a layout, and an ID. */
export function codeOf(language: Language, layout: Layout): string {
  const named = `"${layout.name ?? layout}"`;
  switch (language) {
    case "python":
      return `from snowmint import Snowflake

gen = Snowflake(layout=${named})  # leases a node of this machine; for a fleet pass store=
id = gen.next_id()`;
    case "javascript":
      return `import { Snowflake } from "snowmint";

const gen = await Snowflake.lease({ layout: ${named} }); // a node of this machine or browser; for a fleet pass store
const id = gen.nextId(); // a bigint`;
    case "rust":
      return `use snowmint::{Layout, Lease, Snowflake};

let layout = Layout::${layout.name ? "preset" : "parse"}(${named})?;
let generator = Snowflake::lease(Lease { layout, ..Lease::default() })?; // a node of this machine; for a fleet set store
let id = generator.next_id()?;`;
  }
}
