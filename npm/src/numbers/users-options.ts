import type { Integer } from "../input.js";

/** The options of `users`. */
export interface UsersOptions {
  /**
   * How many users share a record, 1 to 1,000,000; 100,000 if missing. The store keeps the size of a set's first allocator, and
   * refuses another.
   */
  size?: Integer | undefined;
  /** The amount by which the limit of a section rises, 1 to 2^31-1; 10,000 if missing. */
  step?: Integer | undefined;
  /** How long the section of a crashed allocator stays unavailable, ms, at least 1000; 30,000 if missing. */
  windowMs?: number | undefined;
  /** The longest wait of a call, ms; 1000 if missing. */
  maxWaitMs?: number | undefined;
  /** The name of this allocator for people; program, process and host if missing. */
  label?: string | undefined;
}
