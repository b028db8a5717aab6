// Browsers, workers and all other hosts: they have no environment and no addon, and load the code for leases on demand.

import type { Cell, CellSpec, LeaseOptions, Spec } from "../generator/options.js";
import type { Layout } from "../layout/layout.js";
import type { Make } from "../lease/generator.js";

export const nodeOfEnvironment = (_spec: Spec): number | undefined => undefined;
export const nativeCell = (_spec: CellSpec): Cell | undefined => undefined;
export const renewalMs = (_error: unknown): number => 0;
export const leased = async <Generator extends { layout: Layout }>(
  options: LeaseOptions,
  make: Make<Generator>,
): Promise<Generator> => (await import("../browser/tabs.js")).leased(options, make);
