import module from "#wasm/inspect";
import type { TextForm } from "./encode.js";
import { date } from "./errors.js";
import type * as Inspect from "./generated/inspect.wasm.js";
import { type Id, type Instant, type Owner, read, unixMs } from "./input.js";
import { Layout, type Parts } from "./layout.js";
import type { Preset } from "./names.js";
import { type Engine, getText, putInteger, putText, start, words } from "./wasm/engine.js";

/** The kind of a candidate; `uuid` is a UUID of another variant or version. */
export type Kind =
  | "snowflake"
  | `uuid${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`
  | "uuid_nil"
  | "uuid_max"
  | "uuid"
  | "ulid"
  | "object_id";

/**
 * How a value was read: `uuid_hex` is a UUID without hyphens, `uuid_swapped` a version 1 as MySQL's `UUID_TO_BIN(uuid, 1)`
 * stores it.
 */
export type Form =
  | "integer"
  | TextForm
  | "uuid"
  | "uuid_braces"
  | "uuid_urn"
  | "uuid_hex"
  | "uuid_swapped"
  | "ulid"
  | "object_id";

/** One that could have minted what was inspected. */
export interface Candidate {
  /** The kind of ID. */
  kind: Kind;
  /** The name of the system of a snowflake, or null: a preset, or an edition of yitter's beside it. */
  layout: Preset | "yitter_typescript" | "yitter_csharp" | null;
  /** The text form of that layout, or null. */
  layoutText: string | null;
  /** The parts of a snowflake under that layout, or null. */
  parts: Parts | null;
  /** How the value was read. */
  form: Form;
  /** The time in the ID, Unix ms; null if the kind has no time. */
  timestampMs: number | null;
  /** The time in the ID as a Date; null if the kind has no time. */
  timestamp: Date | null;
  /** Whether nothing in its time speaks against it. */
  plausible: boolean;
  /** Why it is plausible or not: a short sentence. */
  reason: string;
}

/** How to inspect. */
export interface InspectOptions {
  /** The present, by which times are judged: a Date or Unix ms; the host's clock if missing. */
  now?: Instant;
}

const OPTIONS: Owner = { of: "inspect", names: ["now"] satisfies (keyof InspectOptions)[] };

let current: Engine<typeof Inspect> | undefined;

/**
 * Lists everything that could have minted a value, the most plausible first; of garbage, an empty list.
 *
 * Presets of the same shape differ by their epoch alone: the list has each that can decode the ID. Those whose time lies
 * before their system began, within a day of their epoch or in the future come last.
 *
 * The value is a bigint of any size (a negative one is the signed form of 64 bits), a safe integer, or a text: a 64-bit ID
 * in decimal, in hex with or without `0x` (of 15 digits too), or in base 32, 36, 58 or 62 of full width; a UUID, also in braces, after
 * `urn:uuid:` or without hyphens; a ULID; an ObjectId. Throws `INVALID_ID` for an unsafe number, whose digits are
 * lost, and for a value that is neither number nor text; TypeError for an invalid `now`.
 *
 * @example
 * inspect("1541815603606036480")[0].layout // "twitter"
 */
export function inspect(value: Id, options: InspectOptions = {}): Candidate[] {
  const engine = (current ??= start<typeof Inspect>(module));
  const { wasm } = engine;
  // As the function of a map it is called with an index.
  const { now } = typeof options === "number" ? {} : read(options, OPTIONS);
  const nowMs = unixMs(now ?? Date.now());
  if (typeof value !== "string") putInteger(engine, 0, value);
  const count = typeof value === "string" ? wasm.inspect(putText(engine, value), nowMs) : wasm.inspect_integer(nowMs);
  return Array.from({ length: count }, (_, at) => candidate(engine, at));
}

function candidate(engine: Engine<typeof Inspect>, at: number): Candidate {
  const [kind, system, form, reason, layoutText] = getText(engine, engine.wasm.candidate(at)).split("\n");
  const [timed, unixMs, plausible, id] = words(engine);
  const timestampMs = timed ? Number(BigInt.asIntN(64, unixMs!)) : null;
  return {
    kind: kind as Kind,
    layout: (system || null) as Candidate["layout"],
    layoutText: layoutText || null,
    parts: layoutText ? Layout.parse(layoutText).decode(id!) : null,
    form: form as Form,
    timestampMs,
    timestamp: timestampMs === null ? null : date(timestampMs),
    plausible: plausible! > 0n,
    reason: reason!,
  };
}
