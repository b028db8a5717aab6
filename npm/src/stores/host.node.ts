// Node, Deno and Bun: where a database file lies.
import { statfsSync, statSync } from "node:fs";
import { encoded } from "../generated/durability.js";

export const durabilityModule = (): WebAssembly.Module => new WebAssembly.Module(Buffer.from(encoded, "base64"));

/** The number of a path's file system on Linux; 0 elsewhere, where none is known. */
export const fileSystem = (path: string): number => (process.platform === "linux" ? statfsSync(path).type >>> 0 : 0);

/** Which file a path leads to; undefined if to none. */
export function fileAt(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
