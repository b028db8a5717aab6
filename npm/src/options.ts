// Options, which callers give by name.

/** The most letters that may be wrong in a name that looks like an option. */
const WRONG_LETTERS = 2;

/** What options belong to. */
export interface Owner {
  /** The name of the function or class in sentences. */
  of: string;
  /** What sentences call each of the options; `"option"` if missing. */
  kind?: string;
  /** The names of the options. */
  names: readonly string[];
  /** Names that are options of `Snowflake.lease` alone. */
  ofLeases?: readonly string[];
}

/**
 * Reads the options of an object by name, its own and those that it inherits, and leaves out what is undefined. Throws
 * TypeError for a value that is no object of options, and for a name that is no option. An object of a class may have other
 * names too, unless such a name looks like an option.
 */
export function read<Options extends object>(given: Options, owner: Owner): Options {
  const { names, ofLeases } = owner;
  const isObject = typeof given === "object" && given !== null;
  const parent = isObject && Object.getPrototypeOf(given);
  const isPlain = parent === null || (parent && !Object.getPrototypeOf(parent));
  if (!isObject || (!isPlain && !names.some((name) => name in given))) throw new TypeError(noOptions(given, owner));
  for (const name of namesIn(given)) {
    if (names.includes(name)) continue;
    const near = nearest(name, names);
    if (isPlain || ofLeases?.includes(name) || (near && !(near in given)))
      throw new TypeError(noOption(name, near, owner));
  }
  const all = names.map((name) => [name, given[name as keyof Options]]);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

/** Lists the names in an object: those that can be enumerated, and the getters of its classes. */
function namesIn(given: object): string[] {
  const found: string[] = [];
  // A name that every object has was not given.
  for (const name in given) if (!(name in {})) found.push(name);
  for (let parent = Object.getPrototypeOf(given); parent; parent = Object.getPrototypeOf(parent)) {
    if (!Object.getPrototypeOf(parent)) break;
    const members = Object.entries(Object.getOwnPropertyDescriptors(parent));
    found.push(...members.filter(([, { get }]) => get).map(([name]) => name));
  }
  return found;
}

function noOption(name: string, near: string | undefined, owner: Owner): string {
  const { of, kind = "option", names, ofLeases } = owner;
  const meant = ofLeases?.includes(name) ? `await Snowflake.lease({ ${name} })` : near;
  return `${of} has no ${kind} ${name}: ${meant ? `did you mean ${meant}?` : `its ${kind}s are ${names.join(", ")}`}`;
}

function noOptions(given: unknown, { of, kind = "option", names }: Owner): string {
  const { tickMs, read, claim } = Object(given) as Record<string, unknown>;
  const takes = (what: string, meant: string) =>
    `${of} takes an object of options, not ${what}: did you mean ${meant}?`;
  if (names.includes("layout")) {
    const leases = names.includes("store");
    const text = ["string", "number", "bigint"].includes(typeof given) ? String(given) : "";
    if (tickMs !== undefined) return takes("a layout", "{ layout }");
    if (leases && typeof (read ?? claim) === "function") return takes("a store", "{ store }");
    // A URL may have a password, and is not told.
    if (leases && /^(?!.*time:)\w+:/.test(text)) return takes("a URL", "{ store }");
    const shown = typeof given === "string" ? JSON.stringify(given) : text;
    if (/^\d+$/.test(text)) return takes(shown, `{ node: ${shown} }`);
    if (text) return takes(shown, `{ layout: ${shown} }${leases ? ` or { namespace: ${shown} }` : ""}`);
  }
  return `${of} takes an object of ${kind}s, such as { ${names[0]} }`;
}

/** Returns the option that a name looks like, if it looks like one. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const letters = (name: string) => name.toLowerCase().replace(/[^a-z]/g, "");
  const given = letters(name);
  const far = (other: string) => {
    const wrong = distance(given, other);
    if (wrong <= Math.min(WRONG_LETTERS, other.length / 2)) return wrong;
    // A name that is a part of the other one is a worse match than one with wrong letters.
    return given.length > 2 && (given.includes(other) || other.includes(given)) ? WRONG_LETTERS + 1 : Infinity;
  };
  const [best] = names
    .map((name) => ({ name, far: far(letters(name)) }))
    .filter(({ far }) => far < Infinity)
    .sort((one, other) => one.far - other.far);
  return best?.name;
}

/** Counts the letters to put in, take out or change until one word is the other (Levenshtein's distance). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 0; at < one.length; at++) {
    const next = [at + 1];
    for (let to = 0; to < other.length; to++)
      next.push(Math.min(row[to]! + Number(one[at] !== other[to]), row[to + 1]! + 1, next[to]! + 1));
    row = next;
  }
  return row.at(-1)!;
}
