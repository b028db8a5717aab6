// Browsers, workers and all other hosts: they have no environment and no addon, and load the code for leases on demand.
import type { Lease } from "../lease/lease.js";
import type { Cell, CellSpec, LeaseOptions, Spec } from "../options.js";

export const nodeOfEnvironment = (_spec: Spec): number | undefined => undefined;
export const nativeCell = (_spec: CellSpec): Cell | undefined => undefined;
export const renewalMs = (_error: unknown): number => 0;
export const lease = async (spec: Spec, options: LeaseOptions): Promise<Lease | undefined> =>
  (await import("../browser/tabs.js")).lease(spec, options);
