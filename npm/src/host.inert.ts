// What hosts have in common that cannot block and have no environment and no addon.
import type { Cell, LeaseOptions } from "./snowflake.js";

export const blocking = false;
export const nodeOfEnvironment = (_layout: unknown): number | undefined => undefined;
export const nativeCell = (_spec: unknown): Cell | undefined => undefined;
export const sleep = (_ms: number): void => {};
export const renewalMs = (_error: unknown): number => 0;
/** Whether there is something to lease, rather than a node to vouch for. */
export const leases = ({ node, store, namespace }: LeaseOptions): unknown =>
  (node ?? undefined) === undefined || (store ?? namespace);
