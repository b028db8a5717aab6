// The module of leases as bytes in the bundle.
import { packed } from "./generated/lease.js";
import { unpack } from "./unpack.js";

export const leaseModule = (): WebAssembly.Module => new WebAssembly.Module(unpack(...packed));
