// ObjectIds of MongoDB (mongodb/specifications on GitHub, source/bson-objectid).

import { digits, frozen, type Instant, type Integer, unixMs } from "../input.js";
import { Kind, tools } from "../wasm/tools.js";
import { bytesOf, type Mint, minting, textOf, timeOf } from "./bits128.js";

/**
 * Mints an ObjectId: 24 hexadecimal digits, or the 12 bytes in a `Uint8Array`, at an offset or 0. It has 32 bits of
 * Unix seconds, 40 random bits of this realm, and a counter of 24 bits with a random start. When all values of the
 * counter are used, the next second begins. Random bits come from the same source as in `uuid`. Throws `BEFORE_EPOCH`
 * and `TIME_OVERFLOW` if the clock shows a time outside 1970 to 2106.
 *
 * @example
 * objectId() // "507f1f77bcf86cd799439011"
 * objectId.timestampMs("507f1f77bcf86cd799439011") // 1350508407000
 */
export const objectId = /* @__PURE__ */ frozen(
  /* @__PURE__ */ Object.assign(/* @__PURE__ */ minting("ObjectId") as Mint, {
    /** The 12 bytes of an ObjectId: 24 hexadecimal digits in either case. Throws `INVALID_TEXT`. */
    toBytes: (text: string): Uint8Array => bytesOf(Kind.ObjectId, text),
    /** The ObjectId of 12 bytes. Throws `INVALID_ID` for another number of them. */
    fromBytes: (bytes: Uint8Array): string => textOf(Kind.ObjectId, bytes),
    /**
     * The ObjectId of an instant, rounded down to its second, of 40 bits and of 24: with zeros the lowest one of its second, for
     * queries by time. Throws `BEFORE_EPOCH` and `TIME_OVERFLOW` outside 1970 to 2106, and `INVALID_ID` if a number does not fit.
     */
    fromParts: (instant: Instant, random: Integer = 0, counter: Integer = 0): string =>
      tools().objectIdOf(Kind.ObjectId, unixMs(instant), digits(random), digits(counter)),
    /** The time, Unix ms, of whole seconds. Throws `INVALID_TEXT`. */
    timestampMs: (text: string): number => timeOf(Kind.ObjectId, text)!,
  }),
);
