// The module as bytes in the bundle.
import { packed } from "../generated/durability.js";
import { unpack } from "../unpack.js";

export const durabilityModule = (): WebAssembly.Module => new WebAssembly.Module(unpack(packed));
