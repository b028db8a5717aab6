// Browsers, workers, and every host that is nothing else: the module comes as bytes in the bundle.
import { encoded } from "./generated/wasm.js";
import { unpack } from "./unpack.js";

export { version } from "./generated/version.js";
export { blocking, lease, nativeCell, nodeOfEnvironment, renewalMs, sleep } from "./host.inert.js";
export const wasmModule = (): WebAssembly.Module => new WebAssembly.Module(unpack(encoded));
