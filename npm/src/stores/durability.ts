// Which settings keep what an engine confirms: core's table, in a module that is loaded when a store first looks.
import { durabilityModule, surroundings } from "#stores-host";
import { type Engine, getText, putText, start } from "../engine.js";
import { SnowmintError } from "../errors.js";
import type * as Durability from "../generated/durability.wasm.js";

let current: Engine<typeof Durability> | undefined;
const engine = (): Engine<typeof Durability> => (current ??= start<typeof Durability>(durabilityModule));

/** An engine that core knows. */
export type Kind = "postgres" | "mysql" | "redis" | "sqlite";

/** The names of an engine's settings that matter. */
export function settingsOf(kind: Kind): string[] {
  const { wasm_ } = engine();
  return getText(engine(), wasm_.settings_(putText(engine(), kind)))
    .split("\n")
    .slice(0, -1);
}

/** Throws `UNSAFE_STORE` if nothing is granted under these settings. Other settings do no harm. */
export function refuseUnsafe(store: unknown, kind: Kind, found: ReadonlyMap<string, string>): void {
  const refusal = getText(engine(), engine().wasm_.refuse_(tell(kind, found)));
  if (refusal) throw new SnowmintError("UNSAFE_STORE", `${store}: ${refusal}`);
}

/** What a failover could lose under these settings; null if nothing. */
export function standbyRisk(store: unknown, kind: Kind, found: ReadonlyMap<string, string>): string | null {
  const risk = getText(engine(), engine().wasm_.standby_risk_(tell(kind, found)));
  return risk ? `${store}: ${risk}` : null;
}

function tell(kind: Kind, found: ReadonlyMap<string, string>): number {
  const told = settingsOf(kind).flatMap((name) => (found.has(name) ? [`${name}=${found.get(name)}`] : []));
  return putText(engine(), [kind, ...told].join("\n"));
}

/** `UNSAFE_STORE` for what is no setting: what was found, and the cure. */
export function unsafe(store: unknown, found: string, cure: string): SnowmintError {
  const { wasm_ } = engine();
  const refusal = getText(engine(), wasm_.refusal_(putText(engine(), `${found}\n${cure}`)));
  return new SnowmintError("UNSAFE_STORE", `${store}: ${refusal}`);
}

/** Throws `UNSAFE_STORE` for a database file that can be lost where it is, or that others who name it may not see. */
export function refuseLossyPlace(store: unknown, file: string): void {
  for (const { path, fileSystem, mounts, isDirectory } of surroundings(file)) {
    const length = putText(engine(), [path, ...mounts].join("\n"));
    const refusal = getText(engine(), engine().wasm_.place_(length, fileSystem, Number(isDirectory)));
    if (refusal) throw new SnowmintError("UNSAFE_STORE", `${store}: ${refusal}`);
  }
}
