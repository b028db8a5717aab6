// workerd and edge runtimes, which refuse to compile bytes: the modules are files, imported as they want it.
import forms from "./forms.wasm";
import inspect from "./inspect.wasm";
import mint from "./mint.wasm";

export { version } from "./generated/version.js";
export { blocking, lease, nativeCell, nodeOfEnvironment, renewalMs, sleep } from "./host.inert.js";
export const mintModule = (): WebAssembly.Module => mint;
export const formsModule = (): WebAssembly.Module => forms;
export const inspectModule = (): WebAssembly.Module => inspect;
