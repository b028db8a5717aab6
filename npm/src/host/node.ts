// Node, Deno and Bun: a call may block, and the addon keeps one state or lease for all threads of the process.
import threads from "node:worker_threads";
import { type ErrorCode, SnowmintError } from "../errors.js";
import type { Cell, CellSpec, LeaseOptions, Spec } from "../generator/options.js";
import type { LeaseWindow } from "../generator/status.js";
import { duration } from "../input.js";
import { type Layout, nodeNumber } from "../layout/layout.js";
import { generatorOn, type Make } from "../lease/generator.js";
import { checkStore, type Lease, leaseOver } from "../lease/lease.js";
import { nodesText } from "../lease/nodes.js";
import { isLessor } from "../lease/service-claim.js";
import { lease as leaseModule } from "../wasm/lease.js";
import { type Addon, addon, functions, type Handle, noAddon } from "./addon.js";
import { label } from "./label.node.js";
import { recordsOf } from "./records.js";

/** Reads a variable of the environment. Throws where Deno forbids it, because the variable could name a node or a directory. */
function variable(name: string, code: ErrorCode = "INVALID_STORE"): string | undefined {
  try {
    return process.env[name];
  } catch (error) {
    throw new SnowmintError(code, `${name} of the environment may say more, and may not be read: ${error}`);
  }
}

/** Returns the node in `SNOWMINT_NODE`. */
export const nodeOfEnvironment = ({ layout }: Spec): number | undefined =>
  ofEnvironment((text) => nodeNumber(layout, text));

/** Returns the nodes in `SNOWMINT_NODE`, for a lease of one of them. */
const nodesOfEnvironment = ({ layout }: Spec): string | undefined => ofEnvironment((text) => nodesText(layout, text));

/** Reads `SNOWMINT_NODE`. */
function ofEnvironment<Read>(read: (text: string) => Read): Read | undefined {
  const text = variable("SNOWMINT_NODE", "INVALID_NODE");
  try {
    return text === undefined ? undefined : read(text);
  } catch (error) {
    if (error instanceof SnowmintError)
      throw new SnowmintError(error.code, `SNOWMINT_NODE is "${text}": ${error.message}`);
    throw error;
  }
}

/** Returns the nodes in `SNOWMINT_NODE` for a lease; undefined where Deno forbids to read it, because a lease can take any node. */
function nodesForLease(spec: Spec): string | undefined {
  try {
    void process.env.SNOWMINT_NODE;
  } catch {
    return undefined;
  }
  return nodesOfEnvironment(spec);
}

/** Returns `SNOWMINT_RESERVE`; undefined where Deno forbids to read it, because a lease without a reservation is as safe. */
function reserveOfEnvironment(): string | undefined {
  try {
    return process.env.SNOWMINT_RESERVE;
  } catch {
    return undefined;
  }
}

/** Refusals because of a window that is over and may be renewed at any moment, with the ms to wait. */
const awaiting = new WeakMap<SnowmintError, number>();
/** Returns the ms after which the window may have been renewed; 0 if waiting does not help. */
export const renewalMs = (error: SnowmintError): number => awaiting.get(error) ?? 0;

/** Returns whether this thread is a worker. In Deno `isMainThread` is true in web workers, which have another mark. */
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
  const generator = answer(native.open(String(layout), node, maxAheadMs, start));
  return cellOf(native, generator);
}

/** Makes a generator on a lease. */
export const leased = <Generator extends { layout: Layout }>(
  options: LeaseOptions,
  make: Make<Generator>,
): Promise<Generator> => generatorOn(lease, options, make);

/** Leases by the addon, for all threads of the process; returns undefined if `SNOWMINT_NODE` alone gives the node. */
async function lease(spec: Spec, options: LeaseOptions): Promise<Lease | undefined> {
  const { layout, maxAheadMs, asyncWaitMs, start, clock } = spec;
  const { node, store, namespace, windowMs, exclude = [], onLost, reserve } = options;
  const environmentReserve = reserveOfEnvironment();
  const reserved = reserve ?? environmentReserve;
  if (store && typeof store !== "string" && reserved === undefined) {
    const environmentNodes = node === undefined ? nodesForLease(spec) : undefined;
    const environmentNamespace = namespace === undefined ? variable("SNOWMINT_NAMESPACE") : undefined;
    return leaseOver(spec, options, { label: label(), namespace: environmentNamespace, nodes: environmentNodes });
  }
  const environmentStore = variable("SNOWMINT_STORE");
  const environmentNamespace = variable("SNOWMINT_NAMESPACE");
  const environmentNodes = node === undefined ? nodesOfEnvironment(spec) : undefined;
  const hasStore = (store ?? environmentStore) !== undefined;
  const hasNamespace = (namespace ?? environmentNamespace) !== undefined;
  if (environmentNodes !== undefined && leaseModule().isVouched(hasStore, hasNamespace)) return;
  const opened = await storeOf(store, environmentStore);
  if (opened && reserved === undefined) {
    const place = { label: label(), namespace: environmentNamespace, nodes: environmentNodes };
    return leaseOver(spec, { ...options, store: opened }, place);
  }
  if (opened) checkStore(opened, clock);
  // The addon renews the lease also while no JavaScript runs.
  if (clock)
    throw new TypeError(
      "a lease is renewed by the system's clock: pass no clock, or use new Snowflake({ node, clock })",
    );
  if (typeof (namespace ?? "") !== "string") throw new TypeError("namespace is a string");
  if (typeof (reserved ?? "") !== "string") throw new TypeError('reserve is a string such as "24h"');
  if (typeof (onLost ?? lease) !== "function") throw new TypeError("onLost is a function that takes an error");
  const native = addon();
  if (!native)
    throw noAddon(
      "INVALID_STORE",
      (addon) => `a lease needs ${addon}`,
      "use new Snowflake({ node }) with a node that no other generator of this layout uses",
    );
  const terms = {
    layout: String(layout),
    store: typeof store === "string" && !opened ? store : undefined,
    namespace,
    nodes: node === undefined ? undefined : nodesText(layout, node),
    environmentNode: variable("SNOWMINT_NODE"),
    environmentStore: opened ? undefined : environmentStore,
    environmentNamespace,
    reserve,
    environmentReserve,
    stateDir: variable("SNOWMINT_STATE_DIR"),
    place: native.placeVariables().filter((name) => variable(name)),
    maxAheadMs,
    maxWaitMs: asyncWaitMs,
    start,
    windowMs: windowMs === undefined ? undefined : duration("windowMs", windowMs),
    exclude: [...exclude].map((node) => nodeNumber(layout, node)),
  };
  const share: Share = {};
  // A service has its own clock, so the addon cannot reserve its nodes: it refuses a service like a missing store.
  const records = opened && !isLessor(opened) ? recordsOf(native, opened) : undefined;
  const held = answer(await native.lease(terms, onLost && whenLost(onLost, share), records));
  const warning = held.warning();
  if (warning) process.emitWarning(warning, "SnowmintWarning");
  return {
    node: held.node(),
    cell: cellOf(native, held.handle()),
    window: () => windowOf(held.window()),
    status: () => ({ ...held.status(), reserved: windowOf(held.reserved()) }),
    close() {
      share.closing ??= held.close();
      return share.closing;
    },
  };
}

const windowOf = (window: [number, number] | null): LeaseWindow | null =>
  window && { start: window[0], end: window[1] };

/** Returns the store of a lease; undefined for slots of this machine. */
async function storeOf(store: LeaseOptions["store"], environmentStore: string | undefined) {
  if (store && typeof store !== "string") return store;
  if (typeof (store ?? "") !== "string")
    throw new TypeError("store is a URL such as postgres://HOST/DATABASE, or one of snowmint/stores");
  const url = store ?? environmentStore ?? "file:";
  if (url.startsWith("file:")) return undefined;
  // The code of stores is loaded when the first is opened.
  const connect = await import("./connect.js");
  return connect.storeOf(url, variable("SNOWMINT_TOKEN"));
}

/** The state that a generator shares with the callback of its lease. */
interface Share {
  closing?: Promise<void> | undefined;
}

/** Makes the callback. It is outside of `lease`, so that no variable keeps a forgotten generator alive. */
function whenLost(onLost: (error: SnowmintError) => void, share: Share) {
  return (refusal: string): void => {
    if (!share.closing) onLost(errorOf(refusal));
  };
}

function cellOf(native: Addon, generator: Handle): Cell {
  const [next, fill] = functions(native);
  return {
    next: () => answer(next(generator)),
    fill(ids, patienceMs) {
      if (ids.buffer instanceof ArrayBuffer) return answer(fill(generator, ids, patienceMs));
      // The addon must not write to memory that other threads may share.
      const own = new BigUint64Array(ids.length);
      const count = answer(fill(generator, own, patienceMs));
      ids.set(own.subarray(0, count));
      return count;
    },
  };
}

/** Returns the answer of the addon, or throws its refusal. */
function answer<T>(answer: T | string): T {
  if (typeof answer !== "string") return answer;
  throw errorOf(answer);
}

/** The names of options in core's messages. */
const OPTIONS = /\b(?:max_wait|max_ahead|window)_ms\b/g;
const camelCase = (name: string) => name.replace(/_./g, ([, letter]) => letter!.toUpperCase());

function errorOf(refusal: string): SnowmintError {
  const [code, ms, ...message] = refusal.split(" ");
  const error = new SnowmintError(code as ErrorCode, message.join(" ").replace(OPTIONS, camelCase), Number(ms));
  if (code === "WINDOW_CLOSED") awaiting.set(error, Number(ms));
  return error;
}
