// workerd and edge runtimes, which refuse to compile bytes: the module is a file, imported as they want it.
import module from "./snowmint.wasm";

export { version } from "./generated/version.js";
export { blocking, lease, nativeCell, nodeOfEnvironment, renewalMs, sleep } from "./host.inert.js";
export const wasmModule = (): WebAssembly.Module => module;
