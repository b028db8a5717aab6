// ULIDs (ulid/spec on GitHub).

import { frozen, type Instant, type Integer, integer, unixMs } from "../input.js";
import { Kind, tools } from "../wasm/tools.js";
import { bytesOf, type Mint, minting, textOf, timeOf } from "./bits128.js";

/**
 * Mints a ULID: 26 characters, or the 16 bytes in a `Uint8Array`, at an offset or 0. It has 48 bits of Unix ms, then 80
 * random bits. Within a ms each ULID is one more than the last, as the specification says of monotonic generators. It
 * is greater than all ULIDs that this realm has minted, whatever the clock does. Random bits come from the same source
 * as in `uuid`. Throws `EXHAUSTED` when the bits of a ms are used up, and `BEFORE_EPOCH` and `TIME_OVERFLOW` if the
 * clock shows a time outside 1970 to 10889.
 *
 * @example
 * ulid() // "01ARYZ6S41003G00000W000007"
 * ulid.timestampMs("01ARZ3NDEKTSV4RRFFQ69G5FAV") // 1469922850259
 */
export const ulid = /* @__PURE__ */ frozen(
  /* @__PURE__ */ Object.assign(/* @__PURE__ */ minting("Ulid") as Mint, {
    /**
     * The 16 bytes of a ULID, ordered as in its text, which may be in upper or lower case. Throws `INVALID_TEXT`, also
     * above `7ZZZZZZZZZZZZZZZZZZZZZZZZZ`, as everything here that reads a ULID.
     */
    toBytes: (text: string): Uint8Array => bytesOf(Kind.Ulid, text),
    /** The ULID of 16 bytes. Throws `INVALID_ID` for another number of them. */
    fromBytes: (bytes: Uint8Array): string => textOf(Kind.Ulid, bytes),
    /** The UUID of the same 128 bits; it has no version. */
    toUuid: (text: string): string => textOf(Kind.Uuid, bytesOf(Kind.Ulid, text)),
    /** The ULID of the same 128 bits as a UUID has; of a version 7 in the same order. */
    fromUuid: (text: string): string => textOf(Kind.Ulid, bytesOf(Kind.Uuid, text)),
    /**
     * The ULID of an instant and 80 bits: with 0 and 2^80-1 the lowest and highest of its ms. Throws `BEFORE_EPOCH` and
     * `TIME_OVERFLOW` outside 1970 to 10889, and `INVALID_ID` if the bits do not fit.
     */
    fromParts(instant: Instant, randomness: Integer = 0n): string {
      const bits = integer(randomness);
      return tools().ulidOf(unixMs(instant), String(bits >> 64n), String(BigInt.asUintN(64, bits)));
    },
    /** The time, Unix ms. */
    timestampMs: (text: string): number => timeOf(Kind.Ulid, text)!,
    /** The 80 bits after the time. */
    randomness(text: string): bigint {
      const [high, low] = tools().ulidRandomness(String(text));
      return (high! << 64n) | low!;
    },
  }),
);
