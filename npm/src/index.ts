// snowmint: distributed unique IDs.
export type { Id, Instant, Integer } from "./convert.js";
export { type ErrorCode, SnowmintError } from "./errors.js";
export { Layout, type Node, type Parts, type PartsInput } from "./layout.js";
export { layouts } from "./layouts.js";
export { type SequenceStart, Snowflake, type SnowflakeOptions, type SnowflakeStatus } from "./snowflake.js";
export * as text from "./text.js";
