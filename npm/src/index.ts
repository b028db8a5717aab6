// snowmint: distributed unique IDs.

export type { Mint } from "./bits128.js";
export { type ErrorCode, SnowmintError } from "./errors.js";
export type { Id, Instant, Integer } from "./input.js";
export { type Candidate, type Confidence, type InspectOptions, inspect } from "./inspect.js";
export { json } from "./json.js";
export { ksuid } from "./ksuid.js";
export { Layout, type NodeId, type Parts, type PartsInput } from "./layout.js";
export { layouts } from "./layouts.js";
export { Mask, type MaskKey, type MaskOptions, UuidMask } from "./mask.js";
export { objectId } from "./object-id.js";
export type { LeaseOptions, SequenceStart, SnowflakeOptions } from "./options.js";
export { type IdKind, type PrefixedId, prefix, type TypeId } from "./prefix.js";
export { scatter } from "./scatter.js";
export { Snowflake } from "./snowflake.js";
export type { LeaseWindow, SnowflakeStatus } from "./status.js";
export type { Found, LeaseStore, Lessor, Listed, Store } from "./store.js";
export { text } from "./text.js";
export { type TypeIdKind, typeId } from "./type-id.js";
export { ulid } from "./ulid.js";
export { type UuidForm, uuid } from "./uuid.js";
export { xid } from "./xid.js";
