// Browsers, workers, and every host that is nothing else: the modules come as bytes in the bundle, and leases on demand.
import { given } from "./given.js";
import { leases } from "./host.inert.js";
import type { Lease, LeaseOptions, Spec } from "./snowflake.js";

export { blocking, nativeCell, nodeOfEnvironment, renewalMs, sleep } from "./host.inert.js";
export { formsModule, inspectModule, mintModule, wideModule } from "./packed.js";
export const lease = async (spec: Spec, options: LeaseOptions): Promise<Lease | undefined> =>
  leases(options) ? (await import("./tabs.js")).lease(given(), spec, options) : undefined;
