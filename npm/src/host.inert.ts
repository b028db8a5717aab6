// What hosts have in common that cannot block and have no environment and no addon.
import type { Cell } from "./snowflake.js";

export const blocking = false;
export const environment = (_name: string): string | undefined => undefined;
export const nativeCell = (_spec: unknown): Cell | undefined => undefined;
export const sleep = (_ms: number): void => {};
