// The output of the command line, by core's renderer, which is a wasm module of this program alone.
import { readFileSync } from "node:fs";
import type * as Render from "../generated/render.wasm.js";
import { type Layout, layouts as presets } from "../index.js";

/** The form of the output: JSON, or text that may have bold headlines. */
export interface Format {
  json: boolean;
  bold: boolean;
}

const module = new WebAssembly.Module(readFileSync(new URL("render.wasm", import.meta.url)));
const wasm = new WebAssembly.Instance(module).exports as unknown as typeof Render;

/** Passes a text to a function that returns the length of its output. */
function rendered(text: string, render: () => number): string {
  const bytes = Buffer.from(text);
  const address = wasm.input(bytes.length);
  bytes.copy(new Uint8Array(wasm.memory.buffer, address));
  const length = Math.abs(render());
  return Buffer.from(wasm.memory.buffer, wasm.output(), length).toString();
}

/** Returns whether the caller vouches for the node that it gives, with or without a store and a namespace. */
export function isVouched(store: string | undefined, namespace: string | undefined): boolean {
  return Boolean(wasm.is_vouched(+(store !== undefined), +(namespace !== undefined)));
}

/** Returns a table of all presets, or a picture of each given layout. */
export function layouts(given: Layout[], { json, bold }: Format): string {
  const texts = (given.length ? given : Object.values(presets.all())).join("\n");
  return rendered(texts, () => wasm.layouts(+(given.length > 0), +json, +bold));
}

/** Returns the line of an ID under a layout. Throws `SnowmintError` if the layout cannot have minted the ID. */
export function decoded(id: bigint, layout: Layout, { json }: Format): string {
  layout.decode(id);
  return rendered(String(layout), () => wasm.decoded(id < 0n ? -id : id, +(id < 0n), +json));
}

/** Returns the lines of a value and its candidates, and whether there is a candidate. */
export function candidates(value: string | bigint, { json, bold }: Format): [lines: string, found: boolean] {
  let length = 0;
  const nowMs = BigInt(Date.now());
  const lines = rendered(String(value), () => {
    length = wasm.candidates(+(typeof value === "bigint"), nowMs, +json, +bold);
    return length;
  });
  return [lines, length > 0];
}
