import { frozen } from "../input.js";
import { numbers } from "../wasm/numbers.js";

/** Numbers that a name lists. */
export interface NumberRange extends Iterable<bigint> {
  /** How many numbers it has. */
  readonly length: bigint;
}

/**
 * Ranges by name, as of MariaDB's SEQUENCE engine: `seq_1_to_15_step_3`.
 *
 * @example
 * [...sequence.virtual("seq_1_to_15_step_3")]; // [1n, 4n, 7n, 10n, 13n]
 */
export const sequence = /* @__PURE__ */ frozen({
  /**
   * The numbers of `seq_A_to_B` or `seq_A_to_B_step_S`, within 0 to 2^64-1; in descending order if A is greater than B. Throws
   * `INVALID_TEXT` for any other name.
   */
  virtual(name: string): NumberRange {
    const text = String(name);
    const { left } = new (numbers().NamedRange)(text);
    return {
      length: left,
      *[Symbol.iterator]() {
        const range = new (numbers().NamedRange)(text);
        for (let number = range.next(); number !== undefined; number = range.next()) yield number;
      },
    };
  },
});
