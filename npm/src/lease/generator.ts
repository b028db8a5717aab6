// Generators on leases: the work of `Snowflake.lease`, in the file that browsers load on demand.

import { type LeaseOptions, OF_CONSTRUCTOR, type Spec, specOf } from "../generator/options.js";
import { read } from "../input.js";
import { type Layout, numbersOf } from "../layout/layout.js";
import type { Lease } from "./lease.js";

/** The result of `Snowflake.lease`. */
export interface Found {
  spec: Spec;
  /** Undefined if the caller vouches for the node. */
  lease: Lease | undefined;
}

/** Finds the lease of a host. */
export type FindLease = (spec: Spec, options: LeaseOptions) => Promise<Lease | undefined>;

/** Makes a generator of a found lease. Returns nothing if its class does not pass the options on. */
export type Make<Generator> = (options: LeaseOptions, found: Found) => Generator | undefined;

const { names, ofLeases = [] } = OF_CONSTRUCTOR;
const OF_LEASE = { of: "Snowflake.lease", names: [...names, ...ofLeases] };

/** Returns the options of a lease without null values, which count as missing. */
function given(options: LeaseOptions): LeaseOptions {
  // A string would be one node for each of its characters.
  if (typeof options.exclude === "string")
    throw new TypeError("exclude is an array of nodes, such as [0, 1], not a string");
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
}

/** Checks the options, leases, and makes the generator. Closes the lease if that fails. */
export async function generatorOn<Generator extends { layout: Layout }>(
  find: FindLease,
  options: LeaseOptions,
  make: Make<Generator>,
): Promise<Generator> {
  const wishes = given(read(options, OF_LEASE));
  const spec = specOf(wishes);
  const found: Found = { spec, lease: await find(spec, wishes) };
  try {
    const generator = make(wishes, found);
    if (generator && numbersOf(generator.layout) === numbersOf(spec.layout)) return generator;
    throw new TypeError("a subclass of Snowflake passes the options that it gets to super(options)");
  } catch (error) {
    await found.lease?.close();
    throw error;
  }
}
