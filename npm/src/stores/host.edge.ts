// workerd and edge runtimes, which refuse to compile bytes: the module is a file, imported as they want it.
import durability from "./durability.wasm";

export { fileAt, surroundings } from "./host.inert.js";
export const durabilityModule = (): WebAssembly.Module => durability;
