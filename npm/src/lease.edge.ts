// The module of leases as a file beside the bundle.
import lease from "./lease.wasm";

export const leaseModule = (): WebAssembly.Module => lease;
