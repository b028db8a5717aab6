// Which settings keep what an engine confirms: core's table, in a module that is loaded when a store first looks.
import { surroundings } from "#files";
import type { ErrorCode, SnowmintError } from "../errors.js";
import { tools } from "../wasm/tools.js";
import { sentence, shown, told, unavailable } from "./failure.js";

/** An engine that core knows. */
export type Kind = "postgres" | "mysql" | "redis" | "sqlite" | "dynamodb";

/** The names of an engine's settings that matter. */
export const settingsOf = (kind: Kind): string[] => tools().engineSettings(kind);

/**
 * Throws `UNSAFE_STORE` if nothing is granted under these settings, or `STORE_UNAVAILABLE` if they say that the server is
 * shutting down. Other settings do no harm.
 */
export function refuseUnsafe(store: unknown, kind: Kind, found: ReadonlyMap<string, string>): void {
  const refusal = tools().refuseSettings(kind, found as Map<string, string>);
  if (refusal) throw told(refusal[0] as ErrorCode, store, refusal[1] ?? "");
}

/** Returns the writes that a failover could lose under these settings, as a sentence; null without such a risk. */
export function standbyRisk(store: unknown, kind: Kind, found: ReadonlyMap<string, string>): string | null {
  const risk = tools().standbyRisk(kind, found as Map<string, string>);
  return risk === undefined ? null : shown(`${store}: ${risk}`);
}

/** Makes an `UNSAFE_STORE` for a finding that is not a setting, with its cure. */
export function unsafe(store: unknown, found: string, cure: string): SnowmintError {
  return told("UNSAFE_STORE", store, tools().refusalOf(found, cure));
}

/** Makes an error of an engine's client a `STORE_UNAVAILABLE`, or an `INVALID_STORE` if the store cannot work as it is configured. */
export function failed(store: unknown, kind: Kind, cause: unknown): SnowmintError {
  const { code, errno, name } = Object(cause) as { code?: unknown; errno?: unknown; name?: unknown };
  const known = { postgres: code, mysql: errno, dynamodb: name, redis: "", sqlite: "" }[kind] ?? "";
  const isMisconfigured = tools().isMisconfigured(kind, String(known), sentence(cause));
  return unavailable(store, cause, isMisconfigured ? "INVALID_STORE" : undefined);
}

/** Throws `UNSAFE_STORE` for a database file that can be lost where it is, or that others who name it may not see. */
export function refuseLossyPlace(store: unknown, file: string): void {
  for (const { path, fileSystem, mounts, isDirectory } of surroundings(file)) {
    const refusal = tools().refusePlace(path, mounts.join("\n"), fileSystem, isDirectory);
    if (refusal !== undefined) throw told("UNSAFE_STORE", store, refusal);
  }
}
