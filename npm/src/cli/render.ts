// The output of the command line, by core's renderer, which is a wasm module of this program alone.
import { readFileSync } from "node:fs";
import type * as Render from "../generated/render.wasm.js";
import { ENGINE_MS } from "../generated/tables.js";
import { type Layout, layouts as presets, SnowmintError } from "../index.js";
import type { ServerSettings } from "../stores/index.js";

/** The form of the output: JSON, or text that may have bold headlines. */
export interface Format {
  json: boolean;
  bold: boolean;
}

const module = new WebAssembly.Module(readFileSync(new URL("render.wasm", import.meta.url)));
const wasm = new WebAssembly.Instance(module).exports as unknown as typeof Render;

/** Passes a text to a function that returns the length of its output. */
function rendered(text: string, render: () => number): string {
  put(text);
  const length = Math.abs(render());
  return Buffer.from(wasm.memory.buffer, wasm.output(), length).toString();
}

/** Returns whether the caller vouches for the node that it gives, with or without a store and a namespace. */
export function isVouched(store: string | undefined, namespace: string | undefined): boolean {
  return Boolean(wasm.is_vouched(+(store !== undefined), +(namespace !== undefined)));
}

/** Reads an instant in RFC 3339 or Unix ms. Returns Unix ms, or a sentence for another text. */
export function instant(text: string): number | string {
  put(text);
  const ms = wasm.instant();
  return Number.isNaN(ms) ? Buffer.from(wasm.memory.buffer, wasm.output(), wasm.output_length()).toString() : ms;
}

/** Puts bytes or a text where the module reads its input. */
function put(input: string | Uint8Array): void {
  const bytes = typeof input === "string" ? Buffer.from(input) : input;
  const address = wasm.input(bytes.length);
  new Uint8Array(wasm.memory.buffer, address, bytes.length).set(bytes);
}

/** A look at a store, whose findings core writes. One look at a time. */
export class Look {
  constructor(layout: Layout, { json, bold }: Format) {
    put(String(layout));
    wasm.doctor_begin(BigInt(Date.now()), +json, +bold);
  }

  store(name: string, byVariable: boolean, isService: boolean): void {
    put(name);
    wasm.doctor_store(+byVariable, +isService);
  }

  refused(error: unknown): void {
    const { code = "", message } = Object(error) as { code?: string; message?: string };
    if (!(error instanceof SnowmintError)) throw error;
    put(`${code} ${message}`);
    wasm.doctor_refused();
  }

  allowed(sentence: string): void {
    put(sentence);
    wasm.doctor_allowed();
  }

  place(path: string): void {
    put(path);
    wasm.doctor_place();
  }

  settings(found: ServerSettings | undefined, lossy: boolean, standby: boolean): void {
    const lines = found ? [found.engine, ...Array.from(found.values, ([name, value]) => `${name}=${value}`)] : [];
    put(lines.join("\n"));
    wasm.doctor_settings(+lossy, +standby);
  }

  clock(storeMs: number | null, sentMs: number, answeredMs: number): void {
    wasm.doctor_clock(+(storeMs !== null), BigInt(storeMs ?? 0), BigInt(sentMs), BigInt(answeredMs));
  }

  /** Returns the namespace as a part of keys; undefined if the name is not allowed. */
  namespace(name: string | undefined): string | undefined {
    put(name ?? "");
    const address = wasm.doctor_namespace(+(name !== undefined));
    if (!address) return undefined;
    const bytes = Buffer.from(wasm.memory.buffer, address);
    return bytes.toString("ascii", 0, bytes.indexOf(0));
  }

  /** Begins with the nodes. Returns whether the namespace is for this layout. */
  nodes(record: Uint8Array | undefined, floor: Uint8Array | undefined, node: number | undefined): boolean {
    put(record ?? floor ?? "");
    return Boolean(wasm.doctor_nodes(record ? 1 : floor ? 2 : 0, node ?? -1, ENGINE_MS));
  }

  see(node: number, record: Uint8Array, version: number, nowMs: number): void {
    put(record);
    wasm.doctor_see(node, BigInt(version), BigInt(nowMs));
  }

  seen(nowMs: number, storeMs: number | null): void {
    wasm.doctor_seen(BigInt(nowMs), +(storeMs !== null), BigInt(storeMs ?? 0));
  }

  /** Returns the lines, and whether nothing must be mended. */
  end(): [lines: string, isWell: boolean] {
    const length = wasm.doctor_end();
    return [Buffer.from(wasm.memory.buffer, wasm.output(), Math.abs(length)).toString(), length > 0];
  }
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
