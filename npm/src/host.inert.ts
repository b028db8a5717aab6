// What hosts have in common that cannot block and have no environment and no addon.
import { SnowmintError } from "./errors.js";
import type { Cell, Lease, LeaseOptions } from "./snowflake.js";

export const blocking = false;
export const nodeOfEnvironment = (_layout: unknown): number | undefined => undefined;
export const nativeCell = (_spec: unknown): Cell | undefined => undefined;
export const sleep = (_ms: number): void => {};
export const renewalMs = (_error: unknown): number => 0;
export const lease = (_spec: unknown, { node, store, namespace }: LeaseOptions): Lease | undefined => {
  if (node === undefined || (store ?? namespace))
    throw new SnowmintError("STORE_UNAVAILABLE", "this host leases no node yet: pass node, no store");
  return undefined;
};
