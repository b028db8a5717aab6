// snowmint: distributed unique IDs.

export { type ErrorCode, SnowmintError } from "./errors.js";
export { Mask, type MaskKey, type MaskOptions, UuidMask } from "./forms/mask.js";
export { type IdKind, type PrefixedId, prefix, type TypeId } from "./forms/prefix.js";
export { scatter } from "./forms/scatter.js";
export { text } from "./forms/text.js";
export type { LeaseOptions, SequenceStart, SnowflakeOptions } from "./generator/options.js";
export { Snowflake } from "./generator/snowflake.js";
export type { LeaseWindow, SnowflakeStatus } from "./generator/status.js";
export type { Mint } from "./ids/bits128.js";
export { ksuid } from "./ids/ksuid.js";
export { objectId } from "./ids/object-id.js";
export { type TypeIdKind, typeId } from "./ids/type-id.js";
export { ulid } from "./ids/ulid.js";
export { type UuidForm, uuid } from "./ids/uuid.js";
export { xid } from "./ids/xid.js";
export type { Id, Instant, Integer } from "./input.js";
export { json } from "./json.js";
export { type Candidate, type Confidence, type InspectOptions, inspect } from "./layout/inspect.js";
export { Layout, type NodeId, type Parts, type PartsInput } from "./layout/layout.js";
export { layouts } from "./layout/layouts.js";
export type { LeaseStore, Lessor, Listed, Store, Versioned } from "./lease/store.js";
