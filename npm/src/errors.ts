/** What went wrong, as the same word in every language. */
export type ErrorCode =
  | "EXHAUSTED"
  | "CLOCK_BACKWARDS"
  | "WINDOW_CLOSED"
  | "TIME_OVERFLOW"
  | "BEFORE_EPOCH"
  | "INVALID_LAYOUT"
  | "INVALID_NODE"
  | "INVALID_ID"
  | "INVALID_TEXT"
  | "NODES_EXHAUSTED"
  | "STORE_UNAVAILABLE"
  | "UNSAFE_STORE"
  | "FORKED";

/**
 * Why a call was refused. The message says what was wrong and what would be right; `code` is for programs.
 *
 * @example
 * try { gen.tryNextId() } catch (e) { if (e instanceof SnowmintError && e.code === "EXHAUSTED") await later(e.retryAfterMs) }
 */
export class SnowmintError extends Error {
  /** What went wrong, such as `"CLOCK_BACKWARDS"`. */
  readonly code: ErrorCode;
  /** For `EXHAUSTED`: in how many ms the same call has a chance, 1 or more. */
  readonly retryAfterMs?: number;
  /** For `CLOCK_BACKWARDS`: how many ms the clock lies behind the last ID. */
  readonly byMs?: number;

  constructor(code: ErrorCode, message: string, ms = 0) {
    super(message);
    this.name = "SnowmintError";
    this.code = code;
    if (code === "EXHAUSTED") this.retryAfterMs = ms;
    if (code === "CLOCK_BACKWARDS") this.byMs = ms;
  }
}
