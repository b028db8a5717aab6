// The output of the command line, by core's renderer.
import { type Layout, layouts as presets, SnowmintError } from "../index.js";
import type { ServerSettings } from "../stores/index.js";
import { reports, type WasmLook } from "../wasm/reports.js";

/** The form of the output: JSON, or text that may have bold headlines. */
export interface Format {
  json: boolean;
  bold: boolean;
}

/** Returns whether the caller vouches for the node that it gives, with or without a store and a namespace. */
export const isVouched = (store: string | undefined, namespace: string | undefined): boolean =>
  reports().isVouched(store !== undefined, namespace !== undefined);

/** Reads an instant in RFC 3339 or Unix ms. Returns Unix ms, or a sentence for another text. */
export const instant = (text: string): number | string => reports().instant(text);

/** A look at a store, whose findings core writes. */
export class Look {
  readonly #look: WasmLook;

  constructor(layout: Layout, { json, bold }: Format) {
    this.#look = new (reports().Look)(String(layout), Date.now(), json, bold);
  }

  store(name: string, byVariable: boolean, isService: boolean): void {
    this.#look.store(name, byVariable, isService);
  }

  refused(error: unknown): void {
    if (!(error instanceof SnowmintError)) throw error;
    this.#look.refused(error.code, error.message);
  }

  allowed(sentence: string): void {
    this.#look.allowed(sentence);
  }

  place(path: string): void {
    this.#look.place(path);
  }

  settings(found: ServerSettings | undefined, lossy: boolean, standby: boolean): void {
    this.#look.settings(found?.engine, new Map(found?.values), lossy, standby);
  }

  clock(storeMs: number | null, sentMs: number, answeredMs: number): void {
    this.#look.clock(storeMs, sentMs, answeredMs);
  }

  /** Returns the namespace as a part of keys; undefined if the name is not allowed. */
  namespace(name: string | undefined): string | undefined {
    return this.#look.namespace(name);
  }

  /** Begins with the nodes. Returns whether the namespace is for this layout. */
  nodes(record: Uint8Array | undefined, floor: Uint8Array | undefined, node: number | undefined): boolean {
    return this.#look.nodes(record, floor, node, reports().defaults().engineMs);
  }

  see(node: number, record: Uint8Array, version: number, nowMs: number): void {
    this.#look.see(node, record, version, nowMs);
  }

  seen(nowMs: number, storeMs: number | null): void {
    this.#look.seen(nowMs, storeMs);
  }

  /** Returns the lines, and whether nothing must be mended. */
  end(): [lines: string, isWell: boolean] {
    return [this.#look.lines, this.#look.isWell];
  }
}

/** Returns a table of all presets, or a picture of each given layout. */
export function layouts(given: Layout[], { json, bold }: Format): string {
  const { layoutPictures, layoutTable } = reports();
  if (given.length) return layoutPictures(given.map(String), json, bold);
  return layoutTable(Object.values(presets.all()).map(String), json, bold);
}

/** Returns the line of an ID under a layout. Throws `SnowmintError` if the layout cannot have minted the ID. */
export const decoded = (id: bigint, layout: Layout, { json }: Format): string =>
  reports().decoded(String(id), String(layout), json);

/** Returns the lines of a value and its candidates, and whether there is a candidate. */
export function candidates(value: string | bigint, { json, bold }: Format): [lines: string, found: boolean] {
  const { lines, isFound } = reports().candidates(String(value), typeof value === "bigint", Date.now(), json, bold);
  return [lines, isFound];
}
