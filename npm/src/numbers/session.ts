// Sessions on sequences.
import { numbers } from "../wasm/numbers.js";
import { nameOf } from "./number-store.js";

/** A session on the sequences of a store, or of a service. */
export interface Session {
  /** Defines a sequence. Resolves with false if it exists. */
  create(name: string, record: Uint8Array): Promise<boolean>;
  next(name: string): Promise<bigint>;
  current(name: string): Promise<bigint | null>;
  last(): Promise<bigint>;
  set(name: string, to: string, called: boolean | undefined, round: bigint | undefined): Promise<bigint | null>;
  /**
   * Makes a sequence with this definition, unless it exists. Rejects with `INVALID_ID` if it cycles. `isGiven` says that the caller gave
   * the numbers of the definition.
   */
  ready(name: string, record: Uint8Array, isGiven: boolean): Promise<void>;
}

/** Returns the keys of definition and record, which are also paths of a service. */
export function keysOf(name: string): [string, string] {
  nameOf(name, "the name of a sequence");
  return [numbers().keyOf("definitions/", name), numbers().keyOf("sequences/", name)];
}
