// IDs in JSON, which has no 64-bit integers.

import { frozen } from "./frozen.js";

/** IDs in JSON: as decimal strings. */
export const json = /* @__PURE__ */ frozen({
  /**
   * Writes a value as JSON, with every bigint as a decimal string and every `BigUint64Array` as an array of them: what reads
   * it takes them as they are, and no digit is lost on the way. The inverse, where one is needed, is `BigInt(text)`.
   *
   * @example
   * json.stringify({ id: gen.nextId() }) // '{"id":"1541815603606036480"}'
   */
  stringify(value: unknown, space?: string | number): string {
    return JSON.stringify(value, json.replacer, space);
  },
  /**
   * The same for what takes a replacer of `JSON.stringify`.
   *
   * @example
   * app.set("json replacer", json.replacer); // Express
   */
  replacer(_key: string, value: unknown): unknown {
    if (typeof value === "bigint") return String(value);
    return value instanceof BigUint64Array ? Array.from(value, String) : value;
  },
  /**
   * Makes a reviver for `JSON.parse`: decimal strings under these keys become bigints, also in arrays. Other values stay.
   *
   * @example
   * JSON.parse('{"id":"1541815603606036480"}', json.reviver("id")).id // 1541815603606036480n
   */
  reviver(...keys: string[]): (this: unknown, key: string, value: unknown) => unknown {
    const revived = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(revived);
      return typeof value === "string" && /^-?\d+$/.test(value) ? BigInt(value) : value;
    };
    return (key, value) => (keys.includes(key) ? revived(value) : value);
  },
});
