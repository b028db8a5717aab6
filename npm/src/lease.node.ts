// The module of leases as bytes in the bundle, where that is read from a disk.
import { decoded } from "./encoded.js";
import { encoded } from "./generated/lease.js";

export const leaseModule = (): WebAssembly.Module => decoded(encoded);
