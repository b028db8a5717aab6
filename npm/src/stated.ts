// What callers say of a lease.
import type { LeaseOptions } from "./snowflake.js";

/** The options without those that are null, which is as good as missing. */
export function stated(options: LeaseOptions): LeaseOptions {
  // A string would be one node for each of its characters.
  if (typeof options.exclude === "string")
    throw new TypeError("exclude is an array of nodes, such as [0, 1], not a string");
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
}
