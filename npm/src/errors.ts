import { PRESETS, SENTENCES } from "./generated/tables.js";
import { FORMS } from "./names.js";

/**
 * What went wrong, as the same word in every language; the last one, that the page's content security policy or the
 * host forbids WebAssembly, is known here only.
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

/** An error of core: the place of its sentence, and what fills that: a mark and two numbers, as `sentence.rs` tells. */
export function errorOf(what: number, mark = 0n, a = 0n, b = 0n): SnowmintError {
  const show = (_: string, place: string): unknown => {
    switch (place) {
      case "a":
        return a;
      case "b":
        return b;
      case "t":
        return iso(a);
      case "u":
        return iso(b);
      case "m":
        return (1n << (mark >> 2n)) - 1n;
      case "n":
        return name(a | (b << 64n));
      case "f":
        return FORMS[Number(mark)];
      case "p":
        return Object.keys(PRESETS).join(", ");
      default:
        return mark & 2n ? "beyond 64 bits" : mark & 1n ? -a : a;
    }
  };
  const [, code, sentence] = /^(\w+) (.*)$/.exec(SENTENCES[what]!)!;
  return new SnowmintError(code as ErrorCode, sentence!.replace(/{(.)}/g, show as () => string), Number(a));
}

function iso(unixMs: bigint): string {
  const ms = Number(BigInt.asIntN(64, unixMs));
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms} ms`;
}

function name(characters: bigint): string {
  let text = "";
  for (let rest = characters; rest; rest >>= 8n) text += String.fromCharCode(Number(rest & 255n));
  return text.replace(/[^!-~]/g, "?");
}
