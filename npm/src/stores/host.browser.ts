// Browsers, workers, and every host that is nothing else: the module comes as bytes in the bundle.
import { packed } from "../generated/durability.js";
import { unpack } from "../unpack.js";

export { fileAt, surroundings } from "./host.inert.js";

export const durabilityModule = (): WebAssembly.Module => new WebAssembly.Module(unpack(...packed));
