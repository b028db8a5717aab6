// The bit fields of a layout, as the page draws and moves them.
import type { Layout } from "snowmint";

/** The purpose of a field, which decides its colour and pattern. */
export type Kind = "unused" | "time" | "node" | "sequence" | "random";

/** One field of a layout. */
export interface Field {
  /** Its name, `"unused"` too. */
  name: string;
  /** Its width. */
  bits: number;
  kind: Kind;
  /** The place of its lowest bit; 0 is the lowest of the ID. */
  low: number;
  /** The number of node fields above it: neighbours are drawn differently. */
  nodesAbove: number;
}

/** The kind of a field of that name. */
export function kindOf(name: string): Kind {
  return name === "unused" || name === "time" || name === "sequence" || name === "random" ? name : "node";
}

/** The fields of a layout, high to low. */
export function fieldsOf(layout: Layout): Field[] {
  const named = Object.entries(layout.fields);
  const unused = layout.bits - named.reduce((sum, [, bits]) => sum + bits, 0);
  let low = layout.bits;
  let nodesAbove = 0;
  return (unused ? [["unused", unused] as const, ...named] : named).map(([name, bits]) => {
    const kind = kindOf(name);
    const field = { name, bits, kind, low: (low -= bits), nodesAbove };
    if (kind === "node") nodesAbove += 1;
    return field;
  });
}

/** The fields of all 64 bits, high to low: the bits above a layout are unused, as its own unused bits are. */
export function allBitsOf(layout: Layout): Field[] {
  const fields = fieldsOf(layout);
  const bits = 64 - fields.filter(({ kind }) => kind !== "unused").reduce((sum, { bits }) => sum + bits, 0);
  if (bits === 0) return fields;
  const unused: Field = { name: "unused", bits, kind: "unused", low: 64 - bits, nodesAbove: 0 };
  return [unused, ...fields.filter(({ kind }) => kind !== "unused")];
}

/** Whether the IDs of one generator strictly increase: time is above the sequence, and random bits are below both. */
export function increases(layout: Layout): boolean {
  const above = Object.keys(layout.fields).filter((name) => kindOf(name) !== "node");
  return above[0] === "time" && (above.length < 3 || above[2] === "random");
}

/** The classes of an element that shows a field. */
export function fieldClass({ kind, nodesAbove }: Pick<Field, "kind" | "nodesAbove">): string {
  return kind === "node" && nodesAbove % 2 ? "field node other" : `field ${kind}`;
}

/** The value of a field in an ID. */
export function bitsOf({ bits, low }: Field, id: bigint): bigint {
  return BigInt.asUintN(bits, id >> BigInt(low));
}
