// UUIDs (RFC 9562).

import { SnowmintError } from "../errors.js";
import { frozen, type Instant, unixMs } from "../input.js";
import { mintText } from "../wasm/minter.js";
import { Kind, tools } from "../wasm/tools.js";
import { array, bytesOf, type Mint, minting, textOf, timeOf } from "./bits128.js";

const named = (version: number, name: string | Uint8Array, namespace: string): string =>
  tools().namedUuid(
    version,
    typeof name === "string" ? bytesOfName(name) : array("a name is a string or", name),
    String(namespace),
  );

function bytesOfName(name: string): Uint8Array {
  if (/\p{Surrogate}/u.test(name)) throw new SnowmintError("INVALID_TEXT", "a name has no half of a surrogate pair");
  return new TextEncoder().encode(name);
}

/** A short text form of a UUID. */
export type UuidForm = "base32" | "base58" | "base62" | "base64url";

/**
 * UUIDs, as strings in lower case, or as bytes in an array of the caller. A function that mints takes no argument, or a
 * `Uint8Array` and an offset for the bytes; it throws RangeError if the bytes do not fit there.
 *
 * Random bits come from `crypto.getRandomValues`, once for 256 UUIDs or more, first at the first call. Each realm (a
 * process, a thread, a page, a worker) has separate random bits, nodes and counters, so UUIDs of two realms differ by
 * chance alone, as random UUIDs do. Throws `BEFORE_EPOCH` and `TIME_OVERFLOW` if the clock shows a time before 1970
 * (1582 in versions 1 and 6) or after 10889 (5236).
 */
export const uuid = /* @__PURE__ */ frozen({
  /** All bits 0. */
  NIL: "00000000-0000-0000-0000-000000000000",
  /** All bits 1. */
  MAX: "ffffffff-ffff-ffff-ffff-ffffffffffff",
  /** The namespace of domain names, such as `www.example.com` (RFC 9562, section 6.6), for `v3` and `v5`. */
  DNS: "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
  /** The namespace of URLs (RFC 9562, section 6.6), for `v3` and `v5`. */
  URL: "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
  /** The namespace of object identifiers (ISO OIDs), such as `1.3.6.1` (RFC 9562, section 6.6), for `v3` and `v5`. */
  OID: "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
  /** The namespace of distinguished names of X.500 (RFC 9562, section 6.6), for `v3` and `v5`. */
  X500: "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
  /**
   * A version 1 (RFC 9562, section 5.1): 100 ns since 1582, with a random clock sequence and node of this realm, never the
   * address of a network card. No time comes twice, whatever the clock does.
   */
  v1: /* @__PURE__ */ minting("V1") as Mint,
  /**
   * Version 3 (RFC 9562, section 5.3): of the MD5 of a name in a namespace, which is a UUID. Take version 5 for new names. A
   * text is hashed in UTF-8; one with half of a surrogate pair is refused as `INVALID_TEXT`, as two names must not become one.
   */
  v3: (name: string | Uint8Array, namespace: string): string => named(3, name, namespace),
  /** A version 4 (RFC 9562, section 5.4): 122 random bits. */
  v4: /* @__PURE__ */ minting("V4") as Mint,
  /**
   * Version 5 (RFC 9562, section 5.5): of the SHA-1 of a name in a namespace; as version 3.
   *
   * @example
   * uuid.v5("www.example.com", uuid.DNS) // "2ed6657d-e927-568b-95e1-2665a8aea6a2"
   */
  v5: (name: string | Uint8Array, namespace: string): string => named(5, name, namespace),
  /** A version 6 (RFC 9562, section 5.6): as version 1, and above all that this realm has minted. */
  v6: /* @__PURE__ */ minting("V6") as Mint,
  /**
   * A version 7 (RFC 9562, section 5.7): Unix ms, a counter of 42 bits with a random start in each ms (section 6.2, method 1),
   * 32 random bits. Above all that this realm has minted, whatever the clock does: where it steps back the ms stays.
   *
   * @example
   * uuid.v7() // "01a19467-e800-748d-8567-89abcdef0123"
   * uuid.v7(new Uint8Array(16)) // its bytes
   */
  v7: /* @__PURE__ */ minting("V7") as Mint,
  /**
   * A version 7 of an instant, with 74 random bits, for rows that already have a time. It does not increase with the
   * UUIDs of `v7`. Throws `BEFORE_EPOCH` and `TIME_OVERFLOW` outside 1970 to 10889.
   *
   * @example
   * uuid.v7Of(new Date("2022-02-22T19:22:22Z")) // "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
   */
  v7Of(instant: Instant): string {
    return mintText("V7Of", unixMs(instant));
  },
  /**
   * The lowest and the highest version 7 between two instants, both included, for `WHERE id BETWEEN ? AND ?`. Throws
   * `INVALID_ID` if the end is before the start, and `BEFORE_EPOCH` and `TIME_OVERFLOW` outside 1970 to 10889.
   */
  v7Range: (from: Instant, to: Instant): [lowest: string, highest: string] =>
    tools().uuid7Range(unixMs(from), unixMs(to)) as [string, string],
  /**
   * Version 8 (RFC 9562, section 5.8) of 16 bytes from the caller, such as the first 16 bytes of a hash. Version and
   * variant replace six bits: 48 to 51, 64 and 65. Throws `INVALID_ID` for another number of bytes.
   */
  v8(bytes: Uint8Array): string {
    return tools().customUuid(array("the bits are", bytes));
  },
  /**
   * The 16 bytes of a UUID, ordered as in its text. The text has hyphens, and may also have braces or begin with
   * `urn:uuid:`; or it has 32 digits without hyphens. Upper and lower case are read. Throws `INVALID_TEXT`, as
   * everything here that reads a UUID.
   */
  toBytes: (text: string): Uint8Array => bytesOf(Kind.Uuid, text),
  /** The UUID of 16 bytes, in lower case and with hyphens. Throws `INVALID_ID` for another number of them. */
  fromBytes: (bytes: Uint8Array): string => textOf(Kind.Uuid, bytes),
  /**
   * The short text of a UUID: `base32` has 26 characters, as ULIDs have, and `base58`, `base62` and `base64url` have 22. All but
   * the last sort like UUIDs. Throws `INVALID_TEXT`, also for an unknown form.
   *
   * @example
   * uuid.toText("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "base58") // "1BihbxwwQ4NZZpKRH9JDCz"
   */
  toText: (text: string, form: UuidForm): string => tools().shortUuid(String(text), String(form)),
  /**
   * The UUID of a short text. Throws `INVALID_TEXT` for a wrong length, a character of no meaning, more than 128 bits, or an
   * unknown form.
   */
  fromText: (text: string, form: UuidForm): string => tools().uuidOfShort(String(text), String(form)),
  /**
   * The 16 bytes that MySQL's `UUID_TO_BIN(uuid, swap)` makes. Like MySQL, it swaps only on request. Swapped, the high
   * time bits of a version 1 come before its low ones, so that an index is in order of time. Versions 6 and 7 are in
   * order without a swap.
   *
   * @example
   * uuid.toMysql("6ccd780c-baba-1026-9564-5b8c656024db", { swap: true }) // 1026baba6ccd780c95645b8c656024db
   */
  toMysql: (text: string, { swap = false }: { swap?: boolean } = {}): Uint8Array =>
    swap ? tools().swappedUuid(String(text)) : bytesOf(Kind.Uuid, text),
  /**
   * The inverse, with the same `swap`: MySQL's `BIN_TO_UUID(bytes, swap)`. Throws `INVALID_ID` for another number of bytes than
   * 16.
   */
  fromMysql: (bytes: Uint8Array, { swap = false }: { swap?: boolean } = {}): string =>
    swap ? tools().uuidOfSwapped(array("the ID is", bytes)) : textOf(Kind.Uuid, bytes),
  /** The version, of which 1 to 8 are defined; null in variants without versions, as for `NIL` and `MAX`. */
  version: (text: string): number | null => tools().uuidVersion(String(text)) ?? null,
  /** The time of versions 1, 2, 6 and 7, Unix ms, rounded down, of version 2 to 430 s; null for other versions. */
  timestampMs: (text: string): number | null => timeOf(Kind.Uuid, text),
  /** The clock sequence of versions 1 and 6, 14 bits, and of version 2, 6 bits; else null. */
  clockSequence: (text: string): number | null => tools().uuidClockSequence(String(text)) ?? null,
  /** The node of versions 1, 2 and 6, 48 bits; else null. */
  node: (text: string): number | null => tools().uuidNode(String(text)) ?? null,
  /**
   * The identity in a version 2 (DCE 1.1: Authentication and Security Services, section 5.2.1.1): the domain, 0 for
   * users, 1 for groups and 2 for organisations, and the number in it, such as POSIX's user ID; null in other versions.
   */
  local(text: string): { domain: number; id: number } | null {
    const local = tools().uuidLocal(String(text));
    return local ? { domain: local[0]!, id: local[1]! } : null;
  },
});
