// IDs in JSON, which has no 64-bit integers.

import { SnowmintError } from "./errors.js";
import { frozen } from "./input.js";

/** IDs in JSON: as decimal strings. */
export const json = /* @__PURE__ */ frozen({
  /**
   * Writes a value as JSON, with every bigint as a decimal string and every `BigUint64Array` as an array of such
   * strings. Readers of the JSON lose no digit. `BigInt(text)` turns a string back.
   *
   * @example
   * json.stringify({ id: gen.nextId() }) // '{"id":"1541815603606036480"}'
   */
  stringify(value: unknown, space?: string | number): string {
    return JSON.stringify(value, json.replacer, space);
  },
  /**
   * The same as a replacer, for functions that take a replacer of `JSON.stringify`.
   *
   * @example
   * app.set("json replacer", json.replacer); // Express
   */
  replacer(_key: string, value: unknown): unknown {
    if (typeof value === "bigint") return String(value);
    return value instanceof BigUint64Array ? Array.from(value, String) : value;
  },
  /**
   * Makes a reviver for `JSON.parse`: decimal strings under these keys become bigints, also in arrays. So do numbers
   * beyond 2^53, which have lost digits, if the engine passes the digits of the text; in other engines the reviver
   * throws `INVALID_ID`. Other values stay.
   *
   * @example
   * JSON.parse('{"id":"1541815603606036480"}', json.reviver("id")).id // 1541815603606036480n
   */
  reviver(
    ...keys: string[]
  ): (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown {
    /** The texts of rounded numbers in arrays: an element comes before the key of its array. */
    const texts = new WeakMap<object, Record<string, string | undefined>>();
    const revived = (value: unknown, key: string, text?: string): unknown => {
      if (Array.isArray(value)) return value.map((each, at) => revived(each, key, texts.get(value)?.[at]));
      if (typeof value === "string") return isInteger(value) ? BigInt(value) : value;
      if (!isRounded(value)) return value;
      if (text !== undefined && isInteger(text)) return BigInt(text);
      throw new SnowmintError(
        "INVALID_ID",
        `the number ${text ?? value} under "${key}" is beyond 2^53 and has lost digits: the sender has to write IDs as strings`,
      );
    };
    return function (key, value, context) {
      if (keys.includes(key)) return revived(value, key, context?.source);
      if (Array.isArray(this) && isRounded(value)) {
        const known = texts.get(this) ?? {};
        known[key] = context?.source;
        texts.set(this, known);
      }
      return value;
    };
  },
});

const isInteger = (text: string): boolean => /^-?\d+$/.test(text);
const isRounded = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value);
