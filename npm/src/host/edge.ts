// workerd and edge runtimes: as browsers, without tabs.
import { SnowmintError } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import type { LeaseOptions, Spec } from "../options.js";
import * as browser from "./browser.js";

export { nativeCell, nodeOfEnvironment, renewalMs } from "./browser.js";
export async function lease(spec: Spec, options: LeaseOptions): Promise<Lease | undefined> {
  if (options.store) return browser.lease(spec, options);
  throw new SnowmintError(
    "STORE_UNAVAILABLE",
    "there are no tabs here to lease a slot for: pass a store, such as an HttpStore of snowmint/stores, or use " +
      "new Snowflake({ node }) with a node that no other generator of this layout uses",
  );
}
