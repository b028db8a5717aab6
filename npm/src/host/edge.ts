// workerd and edge runtimes: as browsers, without tabs.
import { SnowmintError } from "../errors.js";
import type { LeaseOptions } from "../generator/options.js";
import type { Layout } from "../layout/layout.js";
import type { Make } from "../lease/generator.js";
import * as browser from "./browser.js";

export { nativeCell, nodeOfEnvironment, renewalMs } from "./browser.js";
export async function leased<Generator extends { layout: Layout }>(
  options: LeaseOptions,
  make: Make<Generator>,
): Promise<Generator> {
  if (!options || options.store) return browser.leased(options, make);
  throw new SnowmintError(
    "INVALID_STORE",
    "there are no tabs here to lease a slot for: pass a store, such as an HttpStore of snowmint/stores, or use " +
      "new Snowflake({ node }) with a node that no other generator of this layout uses",
  );
}
