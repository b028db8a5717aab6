import { digits as digitsOf, frozen, type Id, type Integer } from "../input.js";
import { tools } from "../wasm/tools.js";

/** Moves bits or digits of IDs, and back, so that a database that splits tables by ranges writes to all ranges. */
export const scatter = /* @__PURE__ */ frozen({
  /**
   * Moves the last `digits` decimal digits behind the first digit. The first digit stays, so the number of digits stays
   * too. Throws `INVALID_ID` unless `id` is 0 to 2^63-1 and has more than `digits` digits, or if the result is above
   * 2^63-1, which is possible for IDs from 9 * 10^18 on.
   *
   * @example
   * scatter.rotateDigits(561632371724517376n, 1) // 566163237172451737n
   */
  rotateDigits: (id: Id, digits: Integer): bigint => tools().rotateDigits(digitsOf(id), digitsOf(digits)),
  /** The inverse of `rotateDigits`. Throws `INVALID_ID` for a number that `rotateDigits` never returns for `digits`. */
  unrotateDigits: (id: Id, digits: Integer): bigint => tools().unrotateDigits(digitsOf(id), digitsOf(digits)),
  /**
   * Reverses the low 63 bits, so that the lowest bit becomes the highest. A second call gives the ID back. Throws
   * `INVALID_ID` unless `id` is 0 to 2^63-1.
   */
  reverseBits: (id: Id): bigint => tools().reverseBits(digitsOf(id)),
  /**
   * Puts one of 2^`bits` shard numbers on top, made of the low bits and a hash of the other bits. The other bits move
   * down and keep their order by time. Throws `INVALID_ID` unless `id` is 0 to 2^63-1 and `bits` 0 to 63.
   *
   * @example
   * scatter.shardHigh(1541815603606036480n, 4) >> 59n // 0n to 15n
   */
  shardHigh: (id: Id, bits: Integer): bigint => tools().shardHigh(digitsOf(id), digitsOf(bits)),
  /** The inverse of `shardHigh`. Throws `INVALID_ID` unless `id` is 0 to 2^63-1 and `bits` 0 to 63. */
  unshardHigh: (id: Id, bits: Integer): bigint => tools().unshardHigh(digitsOf(id), digitsOf(bits)),
});
