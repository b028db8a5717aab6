import { date, type Id, type Instant, type Integer, integer, putId, unixMs } from "./convert.js";
import { check, core, getText, keep, putInteger, putText, words } from "./core.js";
import { errorOf } from "./errors.js";
import { NO_PRESET, PRESETS } from "./generated/tables.js";
import type { Preset } from "./names.js";

/** The parts of an ID under a layout. */
export interface Parts {
  /** The first instant of the ID's tick. */
  timestamp: Date;
  /** The same in Unix ms. */
  timestampMs: number;
  /** The value of the time field: ticks since the epoch. */
  tick: bigint;
  /** All node fields, concatenated high to low. */
  node: number;
  /** Every field but `unused`, high to low; of a field of more than 53 bits the value is a bigint. */
  fields: Record<string, number>;
  /** The counter within the tick; 0 if the layout has none. */
  sequence: number;
}

/**
 * What `Layout.encode` puts together: the parts of `Layout.decode`, or some of them; what is missing is 0. Of several times
 * `timestampMs` counts, then `timestamp`; of `fields` only `random` is read.
 */
export interface PartsInput {
  /** The instant, rounded down to its tick. One of `timestampMs`, `timestamp` and `tick` is needed. */
  timestampMs?: number;
  timestamp?: Date;
  tick?: Integer;
  /** A number, or a number for each node field. */
  node?: Node;
  sequence?: Integer;
  random?: Integer;
  /** Read where `random` is missing. */
  fields?: Record<string, Integer>;
}

/** A node: a number, a number for each node field, or either as text: `"5"`, `"datacenter=0,worker=5"`. */
export type Node = Integer | string | Record<string, Integer>;

/** What stands for a date that never comes. */
const NEVER = -(2 ** 63);

/**
 * The bit fields of an ID from high to low, with the epoch and the length of a tick. Immutable.
 *
 * @example
 * Layout.preset("twitter").decode(1541815603606036480n).timestamp // 2022-06-28T16:07:40.105Z
 */
export class Layout {
  /** The preset's name, or null. */
  readonly name: string | null;
  /** The bits of all fields together, 1 to 64. */
  readonly bits: number;
  /** The instant of tick 0, Unix ms. */
  readonly epochMs: number;
  /** The length of a tick, ms. */
  readonly tickMs: number;
  /** The start of the last tick that fits the time field, Unix ms. */
  readonly endsAtMs: number;
  /** The same as a Date, or null where no Date reaches. */
  readonly endsAt: Date | null;
  /** When bit 63 first becomes 1 and a signed 64-bit column turns negative, Unix ms, or null if never. */
  readonly signedUntilMs: number | null;
  /** The same as a Date. */
  readonly signedUntil: Date | null;
  /** Whether every ID is a safe integer. */
  readonly jsSafe: boolean;
  /** How many nodes there are. */
  readonly nodes: number;
  /** The most IDs a node can mint in a tick. */
  readonly idsPerTick: number;
  /** The most IDs a node can mint in a second on average. */
  readonly idsPerSecond: number;
  /** The bits of each field but `unused`, high to low. */
  readonly fields: Readonly<Record<string, number>>;
  /** What two layouts that make the same IDs have in common, whatever the names of their fields. @internal */
  readonly numbers: string;
  /** @internal */
  readonly handle: number;
  readonly #text: string;

  private constructor(text: string) {
    const { wasm } = core();
    this.handle = keep(`layout ${text}`, () => check(wasm.layout(putText(text))));
    this.#text = getText(wasm.layout_text(this.handle));
    wasm.layout_facts(this.handle);
    const row = words();
    const fact = (at: number) => Number(BigInt.asIntN(64, row[at]!));
    this.bits = fact(0);
    this.epochMs = fact(1);
    this.tickMs = fact(2);
    this.endsAtMs = fact(3);
    this.signedUntilMs = fact(4) === NEVER ? null : fact(4);
    this.jsSafe = fact(5) > 0;
    this.nodes = fact(6);
    this.idsPerTick = Number(row[7]);
    this.idsPerSecond = Number(row[8]);
    this.numbers = row.slice(9, 15).join();
    this.endsAt = date(this.endsAtMs);
    this.signedUntil = this.signedUntilMs === null ? null : date(this.signedUntilMs);
    this.name = Object.keys(PRESETS).find((name) => PRESETS[name as Preset] === this.#text) ?? null;
    const fields = this.#text
      .split(";")[0]!
      .split(",")
      .map((field) => field.split(":"));
    this.fields = Object.freeze(
      Object.fromEntries(fields.filter(([name]) => name !== "unused").map(([name, bits]) => [name, +bits!])),
    );
    Object.freeze(this);
  }

  /** The preset of that name, such as `"twitter"`. Throws `INVALID_LAYOUT` if there is none. */
  static preset(name: string): Layout {
    if (!Object.hasOwn(PRESETS, name)) throw errorOf(NO_PRESET);
    return new Layout(PRESETS[name as Preset]);
  }

  /** Reads the text form: `time:42,worker:10,sequence:12;epoch=2015-01-01T00:00:00Z;tick=1ms`. Throws `INVALID_LAYOUT`. */
  static parse(text: string): Layout {
    return new Layout(text);
  }

  /** A layout as it is, or the preset of a name, or the layout of a text. @internal */
  static of(layout: Layout | string): Layout {
    if (layout instanceof Layout) return layout;
    if (typeof layout !== "string") throw new TypeError("a layout is a preset's name, a text or a Layout");
    return /^[a-z0-9_]*$/.test(layout) ? Layout.preset(layout) : Layout.parse(layout);
  }

  /** Takes an ID apart. Throws `INVALID_ID` if the layout cannot have minted it. */
  decode(id: Id): Parts {
    putId(id);
    check(core().wasm.decode(this.handle));
    const row = words();
    const timestampMs = Number(BigInt.asIntN(64, row[0]!));
    const names = Object.entries(this.fields);
    const fields = Object.fromEntries(
      names.map(([name, bits], i) => [name, bits > 53 ? row[i + 2] : Number(row[i + 2])]),
    );
    return {
      timestamp: new Date(timestampMs),
      timestampMs,
      tick: BigInt(fields.time!),
      node: Number(row[1]),
      fields: fields as Record<string, number>,
      sequence: (fields.sequence ?? 0) as number,
    };
  }

  /**
   * Puts an ID together: the inverse of `decode`. Throws `BEFORE_EPOCH`, `TIME_OVERFLOW`, `INVALID_NODE`, or `INVALID_ID`
   * if `sequence` or `random` does not fit. Nothing keeps an ID made this way from being minted too.
   */
  encode(parts: PartsInput): bigint {
    const { tick, timestamp, timestampMs = timestamp?.getTime(), node = 0, sequence = 0, fields } = parts;
    // Beyond 2^53 ms only the tick is exact.
    const byTick = tick !== undefined && !Number.isSafeInteger(timestampMs);
    const time = byTick ? ticks(integer(tick, "INVALID_ID")) : unixMs(timestampMs);
    putInteger(0, this.nodeOf(node));
    putInteger(2, integer(sequence, "INVALID_ID"));
    putInteger(4, integer(parts.random ?? fields?.random ?? 0, "INVALID_ID"));
    check(core().wasm.encode(this.handle, time, byTick ? 1 : 0));
    return words()[0]!;
  }

  /**
   * The lowest and highest ID between two instants, both included. Throws `INVALID_LAYOUT` if another field than `time` leads.
   *
   * @example db.all("SELECT * FROM post WHERE id BETWEEN ? AND ?", layout.idRange(monday, sunday))
   */
  idRange(from: Instant, to: Instant): [lowest: bigint, highest: bigint] {
    check(core().wasm.id_range(this.handle, unixMs(from), unixMs(to)));
    const [lowest, highest] = words();
    return [lowest!, highest!];
  }

  /** @internal */
  nodeOf(node: Node): bigint {
    if (typeof node !== "string" && Object.prototype.toString.call(node) !== "[object Object]")
      return integer(node, "INVALID_NODE");
    check(
      core().wasm.parse_node(
        this.handle,
        putText(typeof node === "string" ? node : fieldText(node as Record<string, Integer>, this.nodes)),
      ),
    );
    return words()[0]!;
  }

  /** A node as a number of this layout. @internal */
  numberOf(node: Node): number {
    check(core().wasm.parse_node(this.handle, putText(String(this.nodeOf(node)))));
    return Number(words()[0]);
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

/** The fields of a node as core reads them. No fields are a node only where there are none. */
function fieldText(node: Record<string, Integer>, nodes: number): string {
  const fields = Object.entries(node).map(
    ([name, value]) => `${name.replace(/\W/g, "?")}=${integer(value, "INVALID_NODE")}`,
  );
  return fields.join() || (nodes > 1 ? "" : "0");
}

/** Ticks within 64 bits; no layout reaches the last of them, which stands for all beyond. */
function ticks(tick: bigint): bigint {
  return BigInt.asUintN(64, tick) === tick ? tick : 2n ** 64n - 1n;
}
