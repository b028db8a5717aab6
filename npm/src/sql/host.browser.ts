// The module as bytes in the bundle.
import { packed } from "../generated/sql.js";
import { unpack } from "../unpack.js";

export const sqlModule = (): WebAssembly.Module => new WebAssembly.Module(unpack(...packed));
