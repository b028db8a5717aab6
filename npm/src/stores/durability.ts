// Which settings keep what an engine confirms: core's table, in a module that is loaded when a store first looks.
import { durabilityModule } from "#stores-host";
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

/** Throws `UNSAFE_STORE` if confirmed writes can be lost under these settings. Other settings do no harm. */
export function refuseUnsafe(store: unknown, kind: Kind, found: ReadonlyMap<string, string>): void {
  const { wasm_ } = engine();
  const told = settingsOf(kind).flatMap((name) => (found.has(name) ? [`${name}=${found.get(name)}`] : []));
  const refusal = getText(engine(), wasm_.refuse_(putText(engine(), [kind, ...told].join("\n"))));
  if (refusal) throw new SnowmintError("UNSAFE_STORE", `${store}: ${refusal}`);
}

/** `UNSAFE_STORE` for what is no setting: what was found, and the cure. */
export function unsafe(store: unknown, found: string, cure: string): SnowmintError {
  const { wasm_ } = engine();
  const refusal = getText(engine(), wasm_.refusal_(putText(engine(), `${found}\n${cure}`)));
  return new SnowmintError("UNSAFE_STORE", `${store}: ${refusal}`);
}

/** The name of the file system of that number of Linux, if it may lose what is written there; or nothing. */
export const unsafeFileSystem = (number: number): string => getText(engine(), engine().wasm_.file_system_(number));
