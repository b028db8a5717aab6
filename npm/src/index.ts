// snowmint: distributed unique IDs.
export type { Id, Instant, Integer } from "./convert.js";
export { type ErrorCode, SnowmintError } from "./errors.js";
export { type Candidate, type InspectOptions, inspect } from "./inspect.js";
export { json } from "./json.js";
export { Layout, type Node, type Parts, type PartsInput } from "./layout.js";
export { layouts } from "./layouts.js";
export { objectId } from "./object_id.js";
export { scatter } from "./scatter.js";
export {
  type LeaseOptions,
  type SequenceStart,
  Snowflake,
  type SnowflakeOptions,
  type SnowflakeStatus,
  type Window,
} from "./snowflake.js";
export type { Found, LeaseStore, Lessor, Listed, Store } from "./store.js";
export { text } from "./text.js";
export { ulid } from "./ulid.js";
export { uuid } from "./uuid.js";
export type { Mint } from "./wide.js";
