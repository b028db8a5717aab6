// Which settings keep what an engine confirms: core's table, in a module that is loaded when a store first looks.
import { surroundings } from "#files";
import module from "#wasm/durability";
import type { SnowmintError } from "../errors.js";
import type * as Durability from "../generated/durability.wasm.js";
import { utf8 } from "../utf8.js";
import { type Engine, getText, putBytes, start } from "../wasm/engine.js";
import { shown } from "../wasm/shown.js";
import { sentence, told, unavailable } from "./failure.js";

let current: Engine<typeof Durability> | undefined;
const engine = (): Engine<typeof Durability> => (current ??= start<typeof Durability>(module));

/** An engine that core knows. */
export type Kind = "postgres" | "mysql" | "redis" | "sqlite" | "dynamodb";

/** The names of an engine's settings that matter. */
export function settingsOf(kind: Kind): string[] {
  const { wasm } = engine();
  return getText(engine(), wasm.settings(putBytes(engine(), utf8(kind))))
    .split("\n")
    .slice(0, -1);
}

/** Throws `UNSAFE_STORE` if nothing is granted under these settings. Other settings do no harm. */
export function refuseUnsafe(store: unknown, kind: Kind, found: ReadonlyMap<string, string>): void {
  const refusal = getText(engine(), engine().wasm.refuse(put(kind, found)));
  if (refusal) throw told("UNSAFE_STORE", store, refusal);
}

/** Returns the writes that a failover could lose under these settings, as a sentence; null without such a risk. */
export function standbyRisk(store: unknown, kind: Kind, found: ReadonlyMap<string, string>): string | null {
  const risk = getText(engine(), engine().wasm.standby_risk(put(kind, found)));
  return risk ? shown(`${store}: ${risk}`) : null;
}

function put(kind: Kind, found: ReadonlyMap<string, string>): number {
  const lines = settingsOf(kind).flatMap((name) => (found.has(name) ? [`${name}=${found.get(name)}`] : []));
  return putBytes(engine(), utf8([kind, ...lines].join("\n")));
}

/** Makes an `UNSAFE_STORE` for a finding that is not a setting, with its cure. */
export function unsafe(store: unknown, found: string, cure: string): SnowmintError {
  const { wasm } = engine();
  const refusal = getText(engine(), wasm.refusal(putBytes(engine(), utf8(`${found}\n${cure}`))));
  return told("UNSAFE_STORE", store, refusal);
}

/** Makes an error of an engine's client a `STORE_UNAVAILABLE`, or an `INVALID_STORE` if the store cannot work as it is configured. */
export function failed(store: unknown, kind: Kind, cause: unknown): SnowmintError {
  const { code, errno, name } = Object(cause) as { code?: unknown; errno?: unknown; name?: unknown };
  const known = { postgres: code, mysql: errno, dynamodb: name, redis: "", sqlite: "" }[kind] ?? "";
  const length = putBytes(engine(), utf8(`${kind}\n${known}\n${sentence(cause)}`));
  return unavailable(store, cause, engine().wasm.misconfigured(length) ? "INVALID_STORE" : undefined);
}

/** Throws `UNSAFE_STORE` for a database file that can be lost where it is, or that others who name it may not see. */
export function refuseLossyPlace(store: unknown, file: string): void {
  for (const { path, fileSystem, mounts, isDirectory } of surroundings(file)) {
    const length = putBytes(engine(), utf8([path, ...mounts].join("\n")));
    const refusal = getText(engine(), engine().wasm.place(length, fileSystem, Number(isDirectory)));
    if (refusal) throw told("UNSAFE_STORE", store, refusal);
  }
}
