// workerd and edge runtimes, which refuse to compile bytes: the modules are files, imported as they want it.
import forms from "./forms.wasm";
import { given } from "./given.js";
import { leases } from "./host.inert.js";
import inspect from "./inspect.wasm";
import mint from "./mint.wasm";
import type { Lease, LeaseOptions, Spec } from "./snowflake.js";
import wide from "./wide.wasm";

export { blocking, nativeCell, nodeOfEnvironment, renewalMs, sleep } from "./host.inert.js";
export const mintModule = (): WebAssembly.Module => mint;
export const formsModule = (): WebAssembly.Module => forms;
export const inspectModule = (): WebAssembly.Module => inspect;
export const wideModule = (): WebAssembly.Module => wide;
export const lease = async (spec: Spec, options: LeaseOptions): Promise<Lease | undefined> =>
  leases(options) ? (await import("./tabs.js")).lease(given(), spec, options) : undefined;
