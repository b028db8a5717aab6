// The addon: generators whose state or lease all threads of the process share. Each platform has a separate, optional package
// with the addon.
import module from "node:module";
import { type ErrorCode, SnowmintError } from "../errors.js";
import { version } from "../generated/version.js";
import type { LeaseStatus } from "../generator/status.js";
import type { Listed } from "../lease/store.js";

/** The exports of bindings/node. An answer that is a string is a refusal: "CODE ms message". */
export interface Addon {
  functions(): Functions;
  open(layout: string, node: number, maxAheadMs: number, start: number): Handle | string;
  /** `onLost` is called with a refusal. */
  lease(terms: Terms, onLost?: (refusal: string) => void, records?: Records): Promise<NativeLease | string>;
  /** A store of this thread, for reservations. `ask` gets its calls. */
  Records: new (
    name: string,
    ask: (question: Question) => void,
  ) => Records;
  /** The names of the environment variables that describe the place of the process. */
  placeVariables(): string[];
  /** Runs the command line with these words, and returns its exit code. */
  main(words: string[]): number;
}

/** A store that the addon asks. */
export type Records = object;

/** A call of a store, which `answer` answers once. */
export interface Question {
  readonly verb: "read" | "write" | "list" | "clockMs" | "refuseStandby";
  /** The key, or the prefix of a list. */
  readonly key: string;
  readonly value: Uint8Array;
  readonly expected: number;
  answer(reply: Reply): void;
}

/** The answer of a store, or an error. */
export interface Reply {
  records: Listed[];
  version?: number | undefined;
  ms?: number | undefined;
  risk?: string | undefined;
  code?: string | undefined;
  message?: string | undefined;
}

/** The options of a lease, and the variables of the environment. */
export interface Terms {
  layout: string;
  store?: string | undefined;
  namespace?: string | undefined;
  /** The nodes of which one is leased, as `nodesText` writes them; if missing, all. */
  nodes?: string | undefined;
  environmentNode?: string | undefined;
  environmentStore?: string | undefined;
  environmentNamespace?: string | undefined;
  /** For how long the store grants a node to the directory of the slots, such as `24h`. */
  reserve?: string | undefined;
  environmentReserve?: string | undefined;
  stateDir?: string | undefined;
  /** The `placeVariables` that are set and not empty. */
  place: string[];
  maxAheadMs: number;
  maxWaitMs: number;
  start: number;
  windowMs?: number | undefined;
  exclude: number[];
}

interface NativeLease {
  handle(): Handle;
  node(): number;
  window(): [start: number, end: number] | null;
  /** The reservation within which its windows lie. */
  reserved(): [start: number, end: number] | null;
  warning(): string | null;
  status(): Omit<LeaseStatus, "reserved">;
  close(): Promise<void>;
}

/** A generator of the addon, which only its functions can read. */
export type Handle = object;

export type Functions = [
  next: (generator: Handle) => bigint | string,
  /** Writes into the array's memory, which no other thread may share. */
  fill: (generator: Handle, ids: BigUint64Array, patienceMs: number) => number | string,
];

const KEY = Symbol.for(`snowmint.addon.${version}`);
/** The addon, or the error of loading it. */
interface Loaded {
  addon?: Addon | undefined;
  functions?: Functions | undefined;
  cause?: unknown;
}
const realm = globalThis as { [KEY]?: Loaded };

/** The end of a package's name for each platform. On Linux both are tried, and the package that loads is right. */
const libcs: Record<string, string[]> = { linux: ["-gnu", "-musl"], win32: ["-msvc"] };
export const platform = `${process.platform}-${process.arch}`;
/** The advice where the addon is missing. */
const cure = `install the optional dependencies of snowmint${"Deno" in globalThis ? ", run with --allow-env and --allow-ffi" : ""}`;

/** Returns the addon, if one loads here. ES modules, CommonJS and duplicate installs of one version share it. */
export const addon = (): Addon | undefined => loaded().addon;

/** Returns the functions of the addon. All generators share the same function objects, which makes calls fast. */
export const functions = (addon: Addon): Functions => (loaded().functions ??= addon.functions());

const loaded = (): Loaded => (realm[KEY] ??= load());

function load(): Loaded {
  const causes: unknown[] = [];
  for (const libc of libcs[process.platform] ?? [""]) {
    try {
      if (process.env.SNOWMINT_NO_ADDON === "1") throw new Error("SNOWMINT_NO_ADDON is 1");
      // Said so that bundlers for servers leave it alone: webpack would replace it with nothing, and Turbopack would
      // read the addon as a script. Code that esbuild turns into CommonJS has no URL.
      const from = module.createRequire(import.meta.url ?? __filename);
      return { addon: Reflect.apply(from, undefined, [`snowmint-${platform}${libc}`]) };
    } catch (error) {
      // Missing, built for another libc, or forbidden: the wasm module mints too.
      causes.push(error);
    }
  }
  // The error of an addon that is present says more than the error of a missing one.
  return { cause: causes.find((cause) => !isMissing(cause)) ?? causes[0] };
}

const isMissing = (cause: unknown): boolean => (Object(cause) as { code?: unknown }).code === "MODULE_NOT_FOUND";

/** Makes the error of a call without the addon: `why` the call needs it, and what to do `otherwise`. */
export function noAddon(code: ErrorCode, why: (addon: string) => string, otherwise: string): SnowmintError {
  const { cause } = loaded();
  const [line] = String((Object(cause) as Error).message ?? cause).split("\n");
  const found = isMissing(cause) ? "which is not installed" : `which does not load (${line})`;
  const error = new SnowmintError(
    code,
    `${why(`snowmint's addon for ${platform}, ${found}`)}: ${cure}, or ${otherwise}`,
  );
  // As the constructor of Error would leave it.
  Object.defineProperty(error, "cause", { value: cause, writable: true, configurable: true });
  return error;
}
