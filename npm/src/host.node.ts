// Node, Deno and Bun: a call may block, and the addon keeps one state for all threads of the process.
import { encoded } from "./generated/wasm.js";
import { type Cell, type CellSpec } from "./snowflake.js";
import { unpack } from "./unpack.js";

export { version } from "./generated/version.js";
export const blocking = true;
export const wasmModule = (): WebAssembly.Module => new WebAssembly.Module(unpack(encoded));
export const environment = (name: string): string | undefined => process.env[name];

const lock = new Int32Array(new SharedArrayBuffer(4));
/** Blocks the thread; nobody wakes it. */
export const sleep = (ms: number): void => void Atomics.wait(lock, 0, 0, ms);
export const nativeCell = (_spec: CellSpec): Cell | undefined => undefined;
