// snowmint: distributed unique IDs.
import { decode, encode, FORMS, type TextForm as Form } from "./text.js";

export type { Id, Instant, Integer } from "./convert.js";
export { type ErrorCode, SnowmintError } from "./errors.js";
export { Layout, type Node, type Parts, type PartsInput } from "./layout.js";
export { layouts } from "./layouts.js";
export {
  type LeaseOptions,
  type SequenceStart,
  Snowflake,
  type SnowflakeOptions,
  type SnowflakeStatus,
} from "./snowflake.js";

/** The fixed-width text forms. An object and not `export *`, so that bundlers can leave it out. */
export const text = /* @__PURE__ */ Object.freeze({ FORMS, encode, decode });
export declare namespace text {
  type TextForm = Form;
}
