// Masks: reversible public forms of IDs that show neither their time nor their order.
import { digits as digitsOf, type Id, type Integer, type Owner, read } from "../input.js";
import { tools, type WasmMask, type WasmUuidMask } from "../wasm/tools.js";

/** The secret of a mask: 16 bytes, or 32 hexadecimal digits. */
export type MaskKey = Uint8Array | string;

/** The options of a `Mask`. */
export interface MaskOptions {
  /** Public bytes or a text, such as the name of a table, at most 64 bytes. Masks of one key with different tweaks differ. */
  tweak?: string | Uint8Array | undefined;
  /** 6 to 18: numbers of at most this many decimal digits become such numbers. If missing, numbers have 63 bits. */
  digits?: Integer | undefined;
}

const OWNER: Owner = { of: "Mask", names: ["tweak", "digits"] };

/**
 * Turns 64-bit IDs into others and back, by FF1 of NIST SP 800-38G with AES-128. An ID of 63 bits becomes another one. It
 * hides, and does not authenticate: every number unmasks to some number, so check who may see an object.
 *
 * @example
 * const mask = new Mask(process.env.MASK_KEY); // openssl rand -hex 16
 * mask.decode(mask.encode(1541815603606036480n)) // 1541815603606036480n
 */
export class Mask {
  readonly #mask: WasmMask;

  /** Throws `INVALID_TEXT` for a key or a tweak of another length, and `INVALID_ID` for digits out of range. */
  constructor(key: MaskKey, options: MaskOptions = {}) {
    const { tweak = "", digits } = read(options, OWNER);
    const bytes = typeof tweak === "string" ? new TextEncoder().encode(tweak) : array("a tweak is a string or", tweak);
    this.#mask = new (tools().Mask)(keyOf(key), bytes, digits === undefined ? digits : digitsOf(digits));
  }

  /** The masked form of an ID. Throws `INVALID_ID` above 2^63-1, or for more digits than the mask has. */
  encode(id: Id): bigint {
    return this.#mask.encode(digitsOf(id));
  }

  /** The ID of a masked form. Throws as `encode`. */
  decode(masked: Id): bigint {
    return this.#mask.decode(digitsOf(masked));
  }
}

/**
 * Turns UUIDs of version 7 into UUIDs that look like version 4, and back: UUIDv47. SipHash-2-4 of the random bits masks
 * the time; the random bits stay. The mask hides the time, and does not authenticate.
 *
 * @example
 * const mask = new UuidMask("efcdab89674523011032547698badcfe");
 * mask.encode("018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f") // "2463c780-7fca-4def-8c3f-7b1a2c4d5e6f"
 */
export class UuidMask {
  readonly #mask: WasmUuidMask;

  /**
   * The first 8 bytes of the key are `k0` of other implementations, the lowest byte first, and the others `k1`. Throws
   * `INVALID_TEXT` for a key of another length.
   */
  constructor(key: MaskKey) {
    this.#mask = new (tools().UuidMask)(keyOf(key));
  }

  /** The masked form of a version 7. Throws `INVALID_ID` for another version, and `INVALID_TEXT` for a text that is no UUID. */
  encode(uuid: string): string {
    return this.#mask.encode(String(uuid));
  }

  /** The version 7 of a masked form. Throws `INVALID_ID` for another version than 4, and `INVALID_TEXT`. */
  decode(masked: string): string {
    return this.#mask.decode(String(masked));
  }
}

const keyOf = (key: MaskKey): MaskKey => (typeof key === "string" ? key : array("a mask key is a string or", key));

function array(what: string, given: unknown): Uint8Array {
  if (given instanceof Uint8Array) return given;
  throw new TypeError(`${what} a Uint8Array, not ${String(given)}`);
}
