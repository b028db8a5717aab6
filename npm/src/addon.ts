// The addon: the generator with one state or lease for all threads of the process. It is a package of its own for each
// platform, and optional.
import module from "node:module";
import { type ErrorCode, SnowmintError } from "./errors.js";
import { version } from "./generated/version.js";
import type { LeaseStatus } from "./snowflake.js";

/** What bindings/node exports. A string in the place of an answer is a refusal: "CODE ms sentence". */
export interface Addon {
  open(layout: string, node: number, maxAheadMs: number, start: number): Functions | string;
  /** `onLost` is called with a refusal. */
  lease(terms: Terms, onLost?: (refusal: string) => void): Promise<NativeLease | string>;
}

/** What to lease, and what the environment says of it. */
export interface Terms {
  layout: string;
  store?: string;
  namespace?: string;
  /** The only node to lease. */
  node?: number;
  environmentNode?: string;
  environmentStore?: string;
  environmentNamespace?: string;
  stateDir?: string;
  kubernetes: boolean;
  container: boolean;
  maxAheadMs: number;
  maxWaitMs: number;
  start: number;
  windowMs?: number;
  exclude: number[];
}

interface NativeLease {
  functions(): Functions;
  node(): number;
  window(): [start: number, end: number] | null;
  status(): LeaseStatus;
  close(): Promise<void>;
}

export type Functions = [
  next: () => bigint | string,
  /** Writes into the array's memory, which no other thread may share. */
  fill: (ids: BigUint64Array, patienceMs: number) => number | string,
];

const KEY = Symbol.for(`snowmint.addon.${version}`);
/** What has come of loading it: the addon, or why there is none. */
interface Loaded {
  addon?: Addon;
  cause?: unknown;
}
const realm = globalThis as { [KEY]?: Loaded };

/** The platform's name in those of packages; of both kinds of Linux, the one that loads is the right one. */
const libcs: Record<string, string[]> = { linux: ["-gnu", "-musl"], win32: ["-msvc"] };
const platform = `${process.platform}-${process.arch}`;
/** What to do where there is none. */
const cure = `install the optional dependencies of snowmint${"Deno" in globalThis ? ", run with --allow-env and --allow-ffi" : ""}`;

/** The addon, if there is one that loads here. ESM, CommonJS and duplicate installs of one version share it. */
export const addon = (): Addon | undefined => loaded().addon;

const loaded = (): Loaded => (realm[KEY] ??= load());

function load(): Loaded {
  const causes: unknown[] = [];
  for (const libc of libcs[process.platform] ?? [""]) {
    try {
      if (process.env.SNOWMINT_NO_ADDON === "1") throw new Error("SNOWMINT_NO_ADDON is 1");
      // Said so that bundlers for servers leave it alone: webpack would have nothing in its place, and Turbopack would take
      // the addon for a script. What esbuild makes CommonJS of has no URL.
      const from = module.createRequire(import.meta.url ?? __filename);
      return { addon: Reflect.apply(from, undefined, [`snowmint-${platform}${libc}`]) };
    } catch (error) {
      // Missing, built for another libc, or forbidden: the wasm module mints too.
      causes.push(error);
    }
  }
  // One that is there says more than one that is missing.
  return { cause: causes.find((cause) => !isMissing(cause)) ?? causes[0] };
}

const isMissing = (cause: unknown): boolean => (Object(cause) as { code?: unknown }).code === "MODULE_NOT_FOUND";

/** Makes the error of a call that needs the addon where there is none: `why` it needs it, and what to do `otherwise`. */
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
