// Node, Deno and Bun: a call may block, and the addon keeps one state for all threads of the process.
import { isMainThread } from "node:worker_threads";
import { addon, platform } from "./addon.js";
import { type ErrorCode, SnowmintError } from "./errors.js";
import { encoded } from "./generated/wasm.js";
import type { Cell, CellSpec } from "./snowflake.js";
import { unpack } from "./unpack.js";

export { version } from "./generated/version.js";
export const blocking = true;
export const wasmModule = (): WebAssembly.Module => new WebAssembly.Module(unpack(encoded));
export const environment = (name: string): string | undefined => process.env[name];

const lock = new Int32Array(new SharedArrayBuffer(4));
/** Blocks the thread; nobody wakes it. */
export const sleep = (ms: number): void => void Atomics.wait(lock, 0, 0, ms);

/** A cell in the addon. Without the addon, nothing in the main thread, where the wasm module keeps the state. */
export function nativeCell({ layout, node, maxAheadMs, start }: CellSpec): Cell | undefined {
  const native = addon();
  if (!native) {
    if (isMainThread) return;
    throw new SnowmintError(
      "INVALID_NODE",
      `node ${node} in a worker thread: without snowmint's addon for ${platform} each thread has a state of its own, and ` +
        "threads would repeat each other's IDs. Install the optional dependencies of snowmint, or mint in the main thread",
    );
  }
  const [next, fill] = answer(native.open(String(layout), node, maxAheadMs, start, Math.random()));
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
  const [code, ms, ...sentence] = answer.split(" ");
  throw new SnowmintError(code as ErrorCode, sentence.join(" "), Number(ms));
}
