// Checks the arguments of callers, and makes the kind of object that they get.
import { SnowmintError } from "./errors.js";
import { mint } from "./wasm/mint.js";

/** A 64-bit ID: a bigint, a decimal string, or a number that is a safe integer. */
export type Id = bigint | string | number;
/** An instant: a Date, or Unix ms. */
export type Instant = Date | number;
/** An integer, as a safe number or a bigint. */
export type Integer = number | bigint;

/** An integer as a bigint. A number beyond 2^53 has lost digits already, and is refused. */
export function integer(value: unknown, code: "INVALID_ID" | "INVALID_NODE" = "INVALID_ID"): bigint {
  if (typeof value === "bigint") return value;
  if (Number.isSafeInteger(value) || (typeof value === "string" && /^-?\d+$/.test(value))) return BigInt(value as Id);
  throw new SnowmintError(code, `${String(value)} is not a bigint, a decimal string or a safe integer`);
}

/** The digits of an integer, as the wasm modules take it: a bigint would wrap there beyond 64 bits. */
export const digits = (value: unknown, code?: "INVALID_ID" | "INVALID_NODE"): string => String(integer(value, code));

/** Unix ms, rounded down. */
export function unixMs(instant: unknown): number {
  const ms = instant instanceof Date ? +instant : instant;
  if (Number.isFinite(ms)) return Math.floor(ms as number);
  throw new TypeError(`${String(instant)} is not an instant: pass a Date or Unix ms`);
}

/** A length of time, checked by core, whose error shows the name of the option. */
export function duration(name: string, value: unknown): number {
  const ms = typeof value === "number" ? value : NaN;
  mint().checkMs(name, ms);
  return ms;
}

/** The function or class that options belong to. */
export interface Owner {
  /** The name of the function or class in messages. */
  of: string;
  /** The name of each option in messages; `"option"` if missing. */
  kind?: string | undefined;
  /** The names of the options. */
  names: readonly string[];
  /** Names that are options of `Snowflake.lease` alone. */
  ofLeases?: readonly string[] | undefined;
}

/**
 * Reads the options of an object by name, own and inherited ones, and leaves out undefined values. Throws TypeError if the value
 * is not an object of options, and for an unknown name in a plain object. An object of a class, such as a store, has to have an
 * option, and may have other names.
 */
export function read<Options extends object>(given: Options, owner: Owner): Options {
  const { names } = owner;
  const isObject = typeof given === "object" && given !== null;
  const parent = isObject && Object.getPrototypeOf(given);
  if (isObject && !(parent && Object.getPrototypeOf(parent))) {
    // A name that every object has was not given.
    for (const name in given) if (!names.includes(name) && !(name in {})) throw new TypeError(noOption(name, owner));
  } else if (!isObject || !names.some((name) => name in given)) throw new TypeError(noOptions(owner));
  const all = names.map((name) => [name, given[name as keyof Options]]);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

function noOption(name: string, { of, kind = "option", names, ofLeases }: Owner): string {
  const meant = ofLeases?.includes(name) ? `await Snowflake.lease({ ${name} })` : nearest(name, names);
  return `${of} has no ${kind} ${name}: ${meant ? `did you mean ${meant}?` : `its ${kind}s are ${names.join(", ")}`}`;
}

function noOptions({ of, kind = "option", names }: Owner): string {
  return `${of} takes an object of ${kind}s, such as { ${names.slice(0, 2).join(", ")} }`;
}

/** Returns the option that begins most like a name, if two letters or more are the same. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const letters = (name: string) => name.toLowerCase().replace(/[^a-z]/g, "");
  for (let start = letters(name); start.length > 1; start = start.slice(0, -1)) {
    const found = names.find((option) => letters(option).startsWith(start));
    if (found) return found;
  }
}

/** As `Object.freeze`, with a type by which editors show the comments of the members. */
export const frozen = <const T>(of: T): T => Object.freeze(of) as T;
