import { date } from "../errors.js";
import type { TextForm } from "../forms/text.js";
import { digits, type Id, type Instant, type Owner, read, unixMs } from "../input.js";
import { tools } from "../wasm/tools.js";
import { Layout, type Parts } from "./layout.js";
import type { Preset } from "./names.js";

/** A kind of IDs with one text form, which has the same name. */
type OneForm =
  | "ulid"
  | "object_id"
  | "ksuid"
  | "xid"
  | "firebase_push_id"
  | "cuid"
  | "scru128"
  | "redis_stream_id"
  | "xray_trace_id"
  | "aidx";

/** The kind of a candidate; `uuid` is a UUID of another variant or version. */
export type Kind =
  | "snowflake"
  | `uuid${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`
  | "uuid_nil"
  | "uuid_max"
  | "uuid"
  | "type_id"
  | OneForm;

/** A system beside the presets, whose IDs are only read. */
export type ReadOnlySystem =
  | "tiktok"
  | "linkedin"
  | "bluesky"
  | "pinterest"
  | "sentry"
  | "cockroachdb"
  | "tidb"
  | "clickhouse"
  | "tsid"
  | "seata"
  | "shardingsphere"
  | "hazelcast"
  | "yitter_typescript"
  | "yitter_csharp";

/**
 * How sure the place of a candidate is. `high`: all others explain the ID far worse; `medium`: no other explains it as well;
 * `tied`: another one explains it equally well; `low`: another one explains it better, or an ID of an unknown system would
 * look the same; `unlikely`: its time speaks against it.
 */
export type Confidence = "high" | "medium" | "tied" | "low" | "unlikely";

/**
 * How a value was read: `uuid_hex` is a UUID without hyphens, `uuid_swapped` a version 1 as MySQL's `UUID_TO_BIN(uuid, 1)`
 * stores it, `base64url` an ID of Instagram, `base32_sortable` an ID of Bluesky.
 */
export type Form =
  | "integer"
  | TextForm
  | "base64url"
  | "base32_sortable"
  | "prefixed"
  | "uuid"
  | "uuid_braces"
  | "uuid_urn"
  | "uuid_hex"
  | "uuid_swapped"
  | OneForm;

/** A system that could have minted the inspected value. */
export interface Candidate {
  /** The kind of ID. */
  kind: Kind;
  /** The name of the system of a snowflake, or null. */
  layout: Preset | ReadOnlySystem | null;
  /** The text form of that layout, or null; Pinterest's IDs have no time, and so no layout. */
  layoutText: string | null;
  /** The parts of a snowflake under that layout, or null. */
  parts: Parts | null;
  /** How the value was read. */
  form: Form;
  /** The time in the ID, Unix ms; null if the kind has no time. */
  timestampMs: number | null;
  /** The time in the ID, Unix microseconds; null if the kind has no time. */
  timestampUs: number | null;
  /** The time in the ID as a Date; null if the kind has no time. */
  timestamp: Date | null;
  /** How sure its place is. */
  confidence: Confidence;
  /** Whether nothing in its time speaks against it. */
  plausible: boolean;
  /** Why it is plausible or not: a short sentence. */
  reason: string;
}

/** How to inspect. */
export interface InspectOptions {
  /** The present, by which times are judged: a Date or Unix ms; the host's clock if missing. */
  now?: Instant | undefined;
}

const OPTIONS: Owner = { of: "inspect", names: ["now"] satisfies (keyof InspectOptions)[] };

/**
 * Lists all systems that could have minted a value, the most plausible first; an empty list if the value is not an ID.
 *
 * The rank of a candidate depends on how common IDs of its system are, on its time, and on known facts about its other
 * bits; `confidence` says how sure the rank is. For a number the list has every system that can decode it. Candidates
 * with a time before their system began, within a day of their epoch or in the future come last.
 *
 * The value is a bigint of any size (a negative one is the signed form of 64 bits), a safe integer, or a text: a 64-bit ID
 * in decimal, in hex with or without `0x` (of 15 digits too), in base 32, 36, 58 or 62 of full width, in base 64 as Instagram
 * writes it, in base 32 as Bluesky writes it, or with a prefix; a UUID, also in braces, after `urn:uuid:` or without hyphens;
 * a ULID, ObjectId, TypeID, KSUID, xid, push ID of Firebase, cuid, SCRU128 ID, ID of a stream in Redis, trace ID of X-Ray, or
 * aidx of Misskey. Throws `INVALID_ID` for an unsafe number, whose digits are lost, and for a value that is neither
 * number nor text; TypeError for an invalid `now`.
 *
 * @example
 * inspect("1541815603606036480")[0].layout // "twitter"
 */
export function inspect(value: Id, options: InspectOptions = {}): Candidate[] {
  // As the function of a map it is called with an index.
  const { now } = typeof options === "number" ? {} : read(options, OPTIONS);
  const nowMs = unixMs(now ?? Date.now());
  const isText = typeof value === "string";
  return tools()
    .inspect(isText ? value : digits(value), !isText, nowMs)
    .map(({ id, ...candidate }) => {
      const { layoutText, timestampMs } = candidate;
      return {
        ...candidate,
        parts: layoutText === null || id === null ? null : Layout.parse(layoutText).decode(id),
        timestamp: timestampMs === null ? null : date(timestampMs),
      } as Candidate;
    });
}
