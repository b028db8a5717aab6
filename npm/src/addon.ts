// The addon: the generator with one state or lease for all threads of the process. It is a package of its own for each
// platform, and optional.
import module from "node:module";
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
  environmentStore?: string;
  environmentNamespace?: string;
  stateDir?: string;
  kubernetes: boolean;
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
const realm = globalThis as { [KEY]?: Addon | null };

/** The platform's name in those of packages; of both kinds of Linux, the one that loads is the right one. */
const libcs: Record<string, string[]> = { linux: ["-gnu", "-musl"], win32: ["-msvc"] };
export const platform = `${process.platform}-${process.arch}`;
/** What to do where there is none. */
export const cure = `install the optional dependencies of snowmint${"Deno" in globalThis ? ", run with --allow-env and --allow-ffi" : ""}`;

/** The addon, if there is one that loads here. ESM, CommonJS and duplicate installs of one version share it. */
export function addon(): Addon | undefined {
  if (realm[KEY] === undefined) realm[KEY] = load() ?? null;
  return realm[KEY] ?? undefined;
}

function load(): Addon | undefined {
  for (const libc of libcs[process.platform] ?? [""]) {
    try {
      if (process.env.SNOWMINT_NO_ADDON === "1") return;
      // Said so that bundlers for servers leave it alone: webpack would have nothing in its place, and Turbopack would take
      // the addon for a script. What esbuild makes CommonJS of has no URL.
      const from = module.createRequire(import.meta.url ?? __filename);
      return Reflect.apply(from, undefined, [`snowmint-${platform}${libc}`]);
    } catch {
      // Missing, built for another libc, or forbidden: the wasm module mints too.
    }
  }
}
