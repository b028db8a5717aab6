// The only file that knows what callers may hand in.
import { SnowmintError } from "./errors.js";

/** A 64-bit ID: a bigint, a decimal string, or a number that is a safe integer. */
export type Id = bigint | string | number;
/** An instant: a Date, or Unix ms. */
export type Instant = Date | number;
/** An integer, as a safe number or a bigint. */
export type Integer = number | bigint;

/** An integer as a bigint. A number beyond 2^53 has lost digits already, and is refused. */
export function integer(value: unknown, code: "INVALID_ID" | "INVALID_NODE" = "INVALID_ID"): bigint {
  if (typeof value === "bigint") return value;
  if (Number.isSafeInteger(value) || (typeof value === "string" && /^-?\d+$/.test(value))) return BigInt(value as Id);
  throw new SnowmintError(code, `${String(value)} is not a safe integer: pass a bigint or a decimal string`);
}

/** Unix ms, rounded down. */
export function unixMs(instant: unknown): number {
  const ms = instant instanceof Date ? +instant : instant;
  if (Number.isFinite(ms)) return Math.floor(ms as number);
  throw new TypeError(`${String(instant)} is not an instant: pass a Date or Unix ms`);
}

/** A length of time, checked. */
export function duration(name: string, value: unknown): number {
  if (typeof value === "number" && value >= 0) return value;
  throw new RangeError(`${name} is a number of ms, 0 or more, not ${String(value)}`);
}
