// Node, Deno and Bun: a call may block, and the addon keeps one state or lease for all threads of the process.
import { hostname } from "node:os";
import { basename } from "node:path";
import timers from "node:timers/promises";
import threads from "node:worker_threads";
import { addon, type Functions, noAddon } from "./addon.js";
import { duration } from "./convert.js";
import { core } from "./core.js";
import { type ErrorCode, SnowmintError } from "./errors.js";
import { given } from "./given.js";
import { take } from "./kit.js";
import { leaseOver } from "./lease.js";
import { monotonicMs } from "./monotonic.js";
import type { Cell, CellSpec, Lease, LeaseOptions, Spec } from "./snowflake.js";
import { stated } from "./stated.js";

export { formsModule, inspectModule, mintModule, wideModule } from "./encoded.js";
export const blocking = true;

/** An object that all contexts of `node:vm` in this thread see: each has its own `globalThis`, and all have the same modules of Node. */
export const ofThread: object = threads;

/** Waits without blocking, by the timer that was there when this module was loaded: tests may replace it by one that never fires. */
export const later: (ms: number) => Promise<unknown> = timers.setTimeout;

/** A variable of the environment. Where Deno forbids it, nobody knows whether it would say another node or directory. */
function variable(name: string, code: ErrorCode = "STORE_UNAVAILABLE"): string | undefined {
  try {
    return process.env[name];
  } catch (error) {
    throw new SnowmintError(code, `${name} of the environment may say more, and may not be read: ${error}`);
  }
}

/** The node that the environment of this thread gives. */
export function nodeOfEnvironment({ layout }: Spec): number | undefined {
  const text = variable("SNOWMINT_NODE", "INVALID_NODE");
  try {
    return text === undefined ? undefined : layout.numberOf_(text);
  } catch (error) {
    if (error instanceof SnowmintError)
      throw new SnowmintError(error.code, `SNOWMINT_NODE is "${text}": ${error.message}`);
    throw error;
  }
}

/** The node that the environment gives to a lease; none where Deno forbids to read it, as any node will do then. */
function nodeForLease(spec: Spec): number | undefined {
  try {
    void process.env.SNOWMINT_NODE;
  } catch {
    return undefined;
  }
  return nodeOfEnvironment(spec);
}

const lock = new Int32Array(new SharedArrayBuffer(4));
/**
 * Blocks the thread, to the start of a ms and not to its middle: a saturated generator must not lose the ms in between.
 * Nobody wakes it.
 */
export function sleep(ms: number): void {
  const intoMs = (performance.timeOrigin + monotonicMs()) % 1;
  // NaN would be for ever, and a clock by which tests replace the real one may have no origin.
  Atomics.wait(lock, 0, 0, ms - (intoMs || 0));
}

/** Refusals of windows that are over, and may be renewed at any moment. */
const awaiting = new WeakMap<SnowmintError, number>();
/** In how many ms it is worth a look whether the window has been renewed; 0 if it never is. */
export const renewalMs = (error: SnowmintError): number => awaiting.get(error) ?? 0;

/** Whether this is a worker: those of the web say so by another name in Deno, where `isMainThread` is true in them. */
const inWorker = (): boolean => !threads.isMainThread || "WorkerGlobalScope" in globalThis;

/**
 * A cell in the addon, which reads the system's clock. Without the addon, nothing in the main thread, where the wasm
 * module keeps the state.
 */
export function nativeCell({ layout, node, maxAheadMs, start, clock }: CellSpec): Cell | undefined {
  if (clock) return;
  const native = addon();
  if (!native) {
    if (!inWorker()) return;
    throw noAddon(
      "INVALID_NODE",
      (addon) =>
        `node ${node} in a worker thread: without ${addon}, each thread has a state of its own, and threads would repeat ` +
        "each other's IDs",
      "mint in the main thread",
    );
  }
  const functions = answer(native.open(String(layout), node, maxAheadMs, start));
  // For leases of this thread, which leave out such nodes.
  core().kept_.set(`native 0,${layout.numbers_},${node}`, 1);
  return cellOf(functions);
}

/** A lease of the addon, which threads of one process share; nothing if `SNOWMINT_NODE` alone says the node. */
export async function lease(spec: Spec, options: LeaseOptions): Promise<Lease | undefined> {
  const { layout, maxAheadMs, maxWaitMs, start, clock } = spec;
  const { node, store, namespace, windowMs, exclude = [], onLost } = stated(options);
  take(given());
  if (store && typeof store !== "string") {
    const environmentNode = node === undefined ? nodeForLease(spec) : undefined;
    const environmentNamespace = namespace === undefined ? variable("SNOWMINT_NAMESPACE") : undefined;
    return leaseOver(spec, options, { label: program(), namespace: environmentNamespace, node: environmentNode });
  }
  const environmentStore = variable("SNOWMINT_STORE");
  const environmentNamespace = variable("SNOWMINT_NAMESPACE");
  const environmentNode = node === undefined ? nodeOfEnvironment(spec) : undefined;
  const isNamed = [store, namespace, environmentStore, environmentNamespace].some((given) => given !== undefined);
  if (environmentNode !== undefined && !isNamed) return;
  // It goes on while no JavaScript runs.
  if (clock)
    throw new TypeError(
      "a lease is renewed by the system's clock: pass no clock, or use new Snowflake({ node, clock })",
    );
  if (typeof (store ?? "") !== "string")
    throw new TypeError("store is a URL such as file:/var/lib/ids, or one of snowmint/stores");
  if (typeof (namespace ?? "") !== "string") throw new TypeError("namespace is a string");
  if (typeof (onLost ?? lease) !== "function") throw new TypeError("onLost is a function that takes an error");
  // No more of it, as it may have a password.
  const [scheme] = (store ?? environmentStore ?? "file:").split(":");
  if (scheme !== "file")
    throw new SnowmintError(
      "STORE_UNAVAILABLE",
      `no such store: "${scheme}". Give file:DIRECTORY, or as store an object of snowmint/stores, over a client of your own`,
    );
  const terms = {
    layout: String(layout),
    store,
    namespace,
    node: node === undefined ? undefined : layout.numberOf_(node),
    environmentNode: variable("SNOWMINT_NODE"),
    environmentStore,
    environmentNamespace,
    stateDir: variable("SNOWMINT_STATE_DIR"),
    kubernetes: variable("KUBERNETES_SERVICE_HOST") !== undefined,
    container: !!variable("container"),
    maxAheadMs,
    maxWaitMs,
    start,
    windowMs: windowMs === undefined ? undefined : duration("windowMs", windowMs),
    exclude: [...exclude].map((node) => layout.numberOf_(node)),
  };
  const native = addon();
  if (!native)
    throw noAddon(
      "STORE_UNAVAILABLE",
      (addon) => `a lease needs ${addon}`,
      "use new Snowflake({ node }) with a node that no other generator of this layout uses",
    );
  const share: Share = {};
  const held = answer(await native.lease(terms, onLost && whenLost(onLost, share)));
  return {
    node: held.node(),
    cell: cellOf(held.functions()),
    window() {
      const window = held.window();
      return window && { start: window[0], end: window[1] };
    },
    status: () => held.status(),
    close() {
      share.closing ??= held.close();
      return share.closing;
    },
  };
}

/** What the records of a store call this process. */
function program(): string {
  const name = `${basename(process.argv[1] ?? "node")}:${process.pid}`;
  try {
    return `${name}@${hostname()}`;
  } catch {
    // Deno may forbid it, and it is for people only.
    return name;
  }
}

/** What a generator and the callback of its lease both know. */
interface Share {
  closing?: Promise<void>;
}

/** A function of its own, so that no variable leads to the generator: one that is forgotten without a close can go. */
function whenLost(onLost: (error: SnowmintError) => void, share: Share) {
  return (refusal: string): void => {
    if (!share.closing) onLost(errorOf(refusal));
  };
}

function cellOf([next, fill]: Functions): Cell {
  return {
    next: () => answer(next()),
    fill(ids, patienceMs) {
      if (ids.buffer instanceof ArrayBuffer) return answer(fill(ids, patienceMs));
      // Other threads may see this memory, so the addon must not write there.
      const own = new BigUint64Array(ids.length);
      const count = answer(fill(own, patienceMs));
      ids.set(own.subarray(0, count));
      return count;
    },
  };
}

/** What the addon answered, if it is no refusal. */
function answer<T>(answer: T | string): T {
  if (typeof answer !== "string") return answer;
  throw errorOf(answer);
}

/** The options that sentences name, as core has them. */
const OPTIONS = /\b(?:max_wait|max_ahead|window)_ms\b/g;
const camelCase = (name: string) => name.replace(/_./g, ([, letter]) => letter!.toUpperCase());

function errorOf(refusal: string): SnowmintError {
  const [code, ms, ...sentence] = refusal.split(" ");
  const error = new SnowmintError(code as ErrorCode, sentence.join(" ").replace(OPTIONS, camelCase), Number(ms));
  if (code === "WINDOW_CLOSED") awaiting.set(error, Number(ms));
  return error;
}
