/**
 * What went wrong, as the same word in every language. The last one is known here only: WebAssembly cannot start, as the page's
 * content security policy forbids it, the host has none, or memory is short; `cause` is the host's error.
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
  /** What went wrong, such as `"CLOCK_BACKWARDS"`. */
  readonly code: ErrorCode;
  /** For `EXHAUSTED`, and for `NODES_EXHAUSTED` if it is known: the ms after which the same call can succeed, 1 or more. */
  readonly retryAfterMs?: number;
  /** For `CLOCK_BACKWARDS`: how many ms the clock lies behind the last ID. */
  readonly byMs?: number;

  /**
   * Also what another copy of this package threw is one, as ES modules and CommonJS have each their own; but not one of a
   * subclass.
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
