// snowmint: distributed unique IDs.
import { replacer, stringify } from "./json.js";
import { reverseBits, rotateDigits, shardHigh, unrotateDigits, unshardHigh } from "./scatter.js";
import { decode, encode, FORMS, type TextForm as Form } from "./text.js";

export type { Id, Instant, Integer } from "./convert.js";
export { type ErrorCode, SnowmintError } from "./errors.js";
export { type Candidate, type InspectOptions, inspect } from "./inspect.js";
export { Layout, type Node, type Parts, type PartsInput } from "./layout.js";
export { layouts } from "./layouts.js";
export { objectId } from "./object_id.js";
export {
  type LeaseOptions,
  type SequenceStart,
  Snowflake,
  type SnowflakeOptions,
  type SnowflakeStatus,
  type Window,
} from "./snowflake.js";

/** IDs in JSON: as decimal strings. */
export const json = /* @__PURE__ */ Object.freeze({ stringify, replacer });

/** IDs moved about, so that a database that splits tables by ranges of keys writes to all of them; and back. */
export const scatter = /* @__PURE__ */ Object.freeze({
  rotateDigits,
  unrotateDigits,
  reverseBits,
  shardHigh,
  unshardHigh,
});

export type { Found, LeaseStore, Lessor, Listed, Store } from "./store.js";

/** The fixed-width text forms. An object and not `export *`, so that bundlers can leave it out. */
export const text = /* @__PURE__ */ Object.freeze({ FORMS, encode, decode });
export declare namespace text {
  type TextForm = Form;
}

export { ulid } from "./ulid.js";
export { uuid } from "./uuid.js";
export type { Mint } from "./wide.js";
