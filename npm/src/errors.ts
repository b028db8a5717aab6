/**
 * The kind of an error, the same word in every language. Only this package has the last kind, `WASM_FORBIDDEN`:
 * WebAssembly cannot start, because the page's content security policy forbids it, the host lacks it, or memory is
 * short; `cause` is the host's error.
 */
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
  | "INVALID_STORE"
  | "UNSAFE_STORE"
  | "FORKED"
  | "WASM_FORBIDDEN";

/**
 * Why a call was refused. The message says what was wrong and what would be right; `code` is for programs.
 *
 * @example
 * try { gen.tryNextId() } catch (e) { if (e instanceof SnowmintError && e.code === "EXHAUSTED") await later(e.retryAfterMs) }
 */
export class SnowmintError extends Error {
  /** The kind of the error, such as `"CLOCK_BACKWARDS"`. */
  readonly code: ErrorCode;
  /** For `EXHAUSTED`, and for `NODES_EXHAUSTED` if it is known: the ms after which the same call can succeed, 1 or more. */
  readonly retryAfterMs?: number;
  /** For `CLOCK_BACKWARDS`: how many ms the clock lies behind the last ID. */
  readonly byMs?: number;

  /**
   * An error of another copy of this package is an instance too, because ES modules and CommonJS each have their own
   * class. This does not hold for subclasses.
   */
  static [Symbol.hasInstance](error: unknown): boolean {
    // biome-ignore-start lint/complexity/noThisInStatic: subclasses inherit this function, and it answers for one of them
    const isOther = this === SnowmintError && (error as Error | undefined)?.name === "SnowmintError";
    return isOther || super[Symbol.hasInstance](error);
    // biome-ignore-end lint/complexity/noThisInStatic: as above
  }

  constructor(code: ErrorCode, message: string, ms = 0) {
    super(message);
    this.name = "SnowmintError";
    this.code = code;
    if (code.endsWith("EXHAUSTED") && ms) this.retryAfterMs = ms;
    if (code === "CLOCK_BACKWARDS") this.byMs = ms;
  }
}

/** A Date, or null where no Date reaches. */
export function date(ms: number): Date | null {
  const instant = new Date(ms);
  return Number.isNaN(+instant) ? null : instant;
}
