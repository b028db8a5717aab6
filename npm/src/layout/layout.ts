import { date } from "../errors.js";
import { digits, type Id, type Instant, type Integer, type Owner, read, unixMs } from "../input.js";
import { mint, type WasmLayout } from "../wasm/mint.js";

/** The parts of an ID under a layout. */
export interface Parts {
  /** The first instant of the ID's tick. */
  timestamp: Date;
  /** The same in Unix ms, rounded down. */
  timestampMs: number;
  /** The same in Unix microseconds. Beyond 2^53, in the year 2255, only `tick` is exact. */
  timestampUs: number;
  /** The value of the time field: ticks since the epoch. */
  tick: bigint;
  /** All node fields, concatenated high to low. */
  node: number;
  /** Every field but `unused`, high to low: a number, or a bigint for a field of more than 53 bits. */
  fields: Record<string, number | bigint>;
  /** The counter within the tick; 0 if the layout has none. */
  sequence: number;
}

/**
 * The parts for `Layout.encode`: all parts of `Layout.decode`, or some of them; a missing part is 0. A part that is given more
 * than once, as a time in several units or as a field beside the part, has to be the same each time.
 */
export interface PartsInput {
  /** The instant, rounded down to its tick. One of `timestampMs`, `timestamp`, `timestampUs` and `tick` is needed. */
  timestampMs?: number | undefined;
  /** The instant in Unix microseconds. */
  timestampUs?: number | undefined;
  /** The instant as a Date. */
  timestamp?: Date | undefined;
  /** The instant as the value of the time field: ticks since the epoch. */
  tick?: Integer | undefined;
  /** A number, or a number for each node field. */
  node?: NodeId | undefined;
  /** The counter within the tick. */
  sequence?: Integer | undefined;
  /** The random bits of a layout that has some. */
  random?: Integer | undefined;
  /** The bits of a field named `opaque`. */
  opaque?: Integer | undefined;
  /** The fields by name: node fields, `time`, `sequence`, `random` and `opaque`. */
  fields?: Record<string, Integer> | undefined;
}

const PARTS: Owner = {
  of: "encode",
  kind: "part",
  names: Object.keys({
    timestampMs: 0,
    timestampUs: 0,
    timestamp: 0,
    tick: 0,
    node: 0,
    sequence: 0,
    random: 0,
    opaque: 0,
    fields: 0,
  } satisfies Record<keyof PartsInput, 0>),
};

/** A node: a number, a number for each node field, or either as text: `"5"`, `"datacenter=0,worker=5"`. */
export type NodeId = Integer | string | Record<string, Integer>;

/** Returns a layout in the module that mints. @internal */
export let wasmLayout: (layout: Layout) => WasmLayout;
/** Returns the six numbers of a layout as text: equal for layouts that differ only in the names of fields. @internal */
export let numbersOf: (layout: Layout) => string;

/**
 * The bit fields of an ID from high to low, with the epoch and the length of a tick. Immutable.
 *
 * @example
 * Layout.preset("twitter").decode(1541815603606036480n).timestamp // 2022-06-28T16:07:40.105Z
 */
export class Layout {
  /** The preset's name, or null. */
  readonly name!: string | null;
  /** The bits of all fields together, 1 to 64. */
  readonly bits!: number;
  /** The instant of tick 0, Unix ms. */
  readonly epochMs!: number;
  /** The length of a tick, ms: 0.01 for ticks of 10 microseconds. */
  readonly tickMs!: number;
  /** The start of the last tick that fits the time field, Unix ms. */
  readonly endsAtMs!: number;
  /** The same as a Date, or null where no Date reaches. */
  readonly endsAt!: Date | null;
  /** When bit 63 first becomes 1 and a signed 64-bit column turns negative, Unix ms, or null if never. */
  readonly signedUntilMs!: number | null;
  /** The same as a Date. */
  readonly signedUntil!: Date | null;
  /** Whether every ID is a safe integer. */
  readonly jsSafe!: boolean;
  /** How many nodes there are. */
  readonly nodes!: number;
  /** The most IDs a node can mint in a tick. */
  readonly idsPerTick!: number;
  /** The most IDs a node can mint in a second on average. */
  readonly idsPerSecond!: number;
  /** The bits of each field but `unused`, high to low. */
  readonly fields!: Readonly<Record<string, number>>;
  readonly #text: string;
  readonly #numbers: string;
  /** The layout in the module that mints, from its first use on: a layout that is only read takes no memory there. */
  #wasm: WasmLayout | undefined;

  static {
    wasmLayout = (layout) => (layout.#wasm ??= mint().Layout.parse(layout.#text));
    numbersOf = (layout) => layout.#numbers;
  }

  private constructor(wasm: WasmLayout) {
    const { text, numbers, fields, ...facts } = wasm.facts();
    this.#text = text;
    this.#numbers = numbers.join();
    const { endsAtMs, signedUntilMs } = facts;
    const dates = { endsAt: date(endsAtMs), signedUntil: signedUntilMs === null ? null : date(signedUntilMs) };
    Object.freeze(Object.assign(this, facts, dates, { fields: Object.freeze(fields) }));
    wasm.free();
  }

  /** Returns the preset of a name, such as `"twitter"`. Throws `INVALID_LAYOUT` for an unknown name. */
  static preset(name: string): Layout {
    return new Layout(mint().Layout.preset(String(name)));
  }

  /** Reads the text form: `time:42,worker:10,sequence:12;epoch=2015-01-01T00:00:00Z;tick=1ms`. Throws `INVALID_LAYOUT`. */
  static parse(text: string): Layout {
    return new Layout(mint().Layout.parse(String(text)));
  }

  /** Takes an ID apart. Throws `INVALID_ID` if the layout cannot have minted it. */
  decode(id: Id): Parts {
    const [ms, us, node, ...values] = wasmLayout(this).decode(digits(id));
    const timestampMs = Number(BigInt.asIntN(64, ms!));
    const fields: Parts["fields"] = {};
    for (const [name, bits] of Object.entries(this.fields)) {
      const value = values.shift()!;
      fields[name] = bits > 53 ? value : Number(value);
    }
    return {
      timestamp: new Date(timestampMs),
      timestampMs,
      timestampUs: timestampMs * 1000 + Number(us),
      tick: BigInt(fields.time!),
      node: Number(node),
      fields,
      sequence: Number(fields.sequence ?? 0),
    };
  }

  /**
   * Puts an ID together: the inverse of `decode`. Throws `BEFORE_EPOCH`, `TIME_OVERFLOW`, `INVALID_NODE`, or `INVALID_ID`
   * without a time, for parts that contradict each other, and if `sequence`, `random` or `opaque` does not fit. Nothing keeps an
   * ID made this way from being minted too.
   */
  encode(parts: PartsInput): bigint {
    const { fields, ...given } = read(parts, PARTS);
    const { time, sequence, random, opaque, ...node } = fields ?? {};
    const named = { tick: time, sequence, random, opaque, node: Object.keys(node).length > 0 ? node : undefined };
    const isTicked = (given.tick ?? time) !== undefined;
    const lines = [];
    for (const [part, value] of [...Object.entries(given), ...Object.entries(named)]) {
      if (value === undefined) continue;
      if (part === "node") lines.push(`node=${nodeText(value as NodeId).replace(/\n/g, "?")}`);
      else if (!part.startsWith("timestamp")) lines.push(`${part}=${digits(value)}`);
      // Beyond 2^53 only the tick is exact.
      else if (!isTicked || Number.isSafeInteger(Number(value)))
        lines.push(`${part === "timestampUs" ? part : "timestampMs"}=${BigInt(unixMs(value))}`);
    }
    return wasmLayout(this).encode(lines.join("\n"));
  }

  /**
   * The lowest and highest ID between two instants, both included. Throws `INVALID_LAYOUT` if another field than `time` leads,
   * and `INVALID_ID` if the end is before the start.
   *
   * @example db.all("SELECT * FROM post WHERE id BETWEEN ? AND ?", layout.idRange(monday, sunday))
   */
  idRange(from: Instant, to: Instant): [lowest: bigint, highest: bigint] {
    const [lowest, highest] = wasmLayout(this).idRange(unixMs(from), unixMs(to));
    return [lowest!, highest!];
  }

  /** The canonical text form. */
  toString(): string {
    return this.#text;
  }

  /** The canonical text form. */
  toJSON(): string {
    return this.#text;
  }
}

/** Returns the layout of a name or a text. A layout of another copy of this class is read as its text. @internal */
export function layoutOf(layout: Layout | string): Layout {
  if (layout instanceof Layout) return layout;
  const text = String(layout);
  return text.includes(":") ? Layout.parse(text) : Layout.preset(text);
}

/** Returns a node as a number of the layout. Throws `INVALID_NODE`. @internal */
export function nodeNumber(layout: Layout, node: NodeId): number {
  return wasmLayout(layout).node(nodeText(node));
}

/** Writes a node as core reads it. An empty object is a node only of a layout without node fields. @internal */
export function nodeText(node: NodeId): string {
  if (typeof node === "string") return node;
  if ({}.toString.call(node) !== "[object Object]") return digits(node, "INVALID_NODE");
  const fields = Object.entries(node).map(
    ([name, value]) => `${name.replace(/\W/g, "?")}=${digits(value, "INVALID_NODE")}`,
  );
  return fields.join();
}
