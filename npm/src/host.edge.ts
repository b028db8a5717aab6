// workerd and edge runtimes, which refuse to compile bytes: the modules are files, imported as they want it.
import { SnowmintError } from "./errors.js";
import forms from "./forms.wasm";
import { given } from "./given.js";
import inspect from "./inspect.wasm";
import mint from "./mint.wasm";
import type { Lease, LeaseOptions, Spec } from "./snowflake.js";
import wide from "./wide.wasm";

export { blocking, later, nativeCell, nodeOfEnvironment, renewalMs, sleep } from "./host.inert.js";
/** An object that all code of this isolate sees. */
export const ofThread: object = globalThis;
export const mintModule = (): WebAssembly.Module => mint;
export const formsModule = (): WebAssembly.Module => forms;
export const inspectModule = (): WebAssembly.Module => inspect;
export const wideModule = (): WebAssembly.Module => wide;
export async function lease(spec: Spec, options: LeaseOptions): Promise<Lease | undefined> {
  if (!options.store)
    throw new SnowmintError(
      "STORE_UNAVAILABLE",
      "there are no tabs here to lease a slot for: pass a store, such as an HttpStore of snowmint/stores, or use " +
        "new Snowflake({ node }) with a node that no other generator of this layout uses",
    );
  return (await import("./tabs.js")).lease(given(), spec, options);
}
