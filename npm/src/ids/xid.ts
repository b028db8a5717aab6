// xids (rs/xid on GitHub).

import { digits, frozen, type Instant, type Integer, unixMs } from "../input.js";
import { Kind, tools } from "../wasm/tools.js";
import { bytesOf, type Mint, minting, textOf, timeOf } from "./bits128.js";

/**
 * Mints an xid: 20 characters, or the 12 bytes in a `Uint8Array`, at an offset or 0. It has 32 bits of Unix seconds, 40
 * random bits of this realm instead of machine and process, and a counter of 24 bits with a random start. Throws
 * `BEFORE_EPOCH` and `TIME_OVERFLOW` if the clock shows a time outside 1970 to 2106.
 *
 * @example
 * xid() // "9m4e2mr0ui3e8a215n4g"
 * xid.timestampMs("9m4e2mr0ui3e8a215n4g") // 1300816219000
 */
export const xid = /* @__PURE__ */ frozen(
  /* @__PURE__ */ Object.assign(/* @__PURE__ */ minting("Xid") as Mint, {
    /** The 12 bytes of an xid. Throws `INVALID_TEXT`, as everything here that reads an xid. */
    toBytes: (text: string): Uint8Array => bytesOf(Kind.Xid, text),
    /** The xid of 12 bytes. Throws `INVALID_ID` for another number of them. */
    fromBytes: (bytes: Uint8Array): string => textOf(Kind.Xid, bytes),
    /**
     * The xid of an instant, rounded down to its second, of 40 bits and of 24: with zeros the lowest one of its second. Throws
     * `BEFORE_EPOCH` and `TIME_OVERFLOW` outside 1970 to 2106, and `INVALID_ID` if a number does not fit.
     */
    fromParts: (instant: Instant, random: Integer = 0, counter: Integer = 0): string =>
      tools().objectIdOf(Kind.Xid, unixMs(instant), digits(random), digits(counter)),
    /** The time, Unix ms, of whole seconds. */
    timestampMs: (text: string): number => timeOf(Kind.Xid, text)!,
    /** The machine, 24 bits; random in xids of this package. */
    machine: (text: string): number => tools().xidParts(String(text))[0]!,
    /** The process, 16 bits; random in xids of this package. */
    process: (text: string): number => tools().xidParts(String(text))[1]!,
    /** The counter, 24 bits. */
    counter: (text: string): number => tools().xidParts(String(text))[2]!,
  }),
);
