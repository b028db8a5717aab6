// The module as bytes in the bundle, where that is read from a disk.
import { Buffer } from "node:buffer";
import { encoded } from "../generated/sql.js";

export const sqlModule = (): WebAssembly.Module => new WebAssembly.Module(Buffer.from(encoded, "base64"));
