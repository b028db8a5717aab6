// KSUIDs (segmentio/ksuid on GitHub).

import { frozen, type Instant, unixMs } from "../input.js";
import { Kind, tools } from "../wasm/tools.js";
import { array, bytesOf, type Mint, minting, textOf, timeOf } from "./bits128.js";

/**
 * Mints a KSUID: 27 characters, or the 20 bytes in a `Uint8Array`, at an offset or 0. It has 32 bits of seconds since
 * 2014-05-13, then 128 random bits. KSUIDs of one second have no order. Throws `BEFORE_EPOCH` and `TIME_OVERFLOW` if
 * the clock shows a time outside 2014-05-13 to 2150.
 *
 * @example
 * ksuid() // "0ujtsYcgvSTl8PAuAdqWYSMnLOv"
 * ksuid.timestampMs("0ujtsYcgvSTl8PAuAdqWYSMnLOv") // 1507608047000
 */
export const ksuid = /* @__PURE__ */ frozen(
  /* @__PURE__ */ Object.assign(/* @__PURE__ */ minting("Ksuid") as Mint, {
    /** The 20 bytes of a KSUID. Throws `INVALID_TEXT`, as everything here that reads a KSUID. */
    toBytes: (text: string): Uint8Array => bytesOf(Kind.Ksuid, text),
    /** The KSUID of 20 bytes. Throws `INVALID_ID` for another number of them. */
    fromBytes: (bytes: Uint8Array): string => textOf(Kind.Ksuid, bytes),
    /**
     * The KSUID of an instant, rounded down to its second, and 16 random bytes; without them the lowest of its second. Throws
     * `BEFORE_EPOCH` and `TIME_OVERFLOW` outside 2014-05-13 to 2150, and `INVALID_ID` for another number of bytes.
     */
    fromParts(instant: Instant, payload: Uint8Array = new Uint8Array(16)): string {
      return tools().ksuidOf(unixMs(instant), array("the payload is", payload));
    },
    /** The time, Unix ms, of whole seconds. */
    timestampMs: (text: string): number => timeOf(Kind.Ksuid, text)!,
    /** The 16 random bytes. */
    payload: (text: string): Uint8Array => bytesOf(Kind.Ksuid, text).slice(4),
  }),
);
