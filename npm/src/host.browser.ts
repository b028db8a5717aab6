// Browsers, workers, and every host that is nothing else: the modules come as bytes in the bundle, and leases on demand.
import { given } from "./given.js";
import type { Lease, LeaseOptions, Spec } from "./snowflake.js";

export { blocking, later, nativeCell, nodeOfEnvironment, renewalMs, sleep } from "./host.inert.js";
/** An object that all code of this realm sees; in Node, where jsdom stands for a page, one that all realms of the thread see. */
export const ofThread: object =
  (globalThis as { process?: Partial<NodeJS.Process> }).process?.getBuiltinModule?.("worker_threads") ?? globalThis;
export { formsModule, inspectModule, mintModule, wideModule } from "./packed.js";
export const lease = async (spec: Spec, options: LeaseOptions): Promise<Lease | undefined> =>
  (await import("./tabs.js")).lease(given(), spec, options);
