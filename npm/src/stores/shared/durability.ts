// Judges whether settings keep confirmed writes, by core's table. Its wasm module is loaded at the first check.
import { surroundings } from "#files";
import { type ErrorCode, SnowmintError } from "../../errors.js";
import { tools } from "../../wasm/tools.js";
import { failure, messageOf, shown, unavailable } from "./failure.js";

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
  if (refusal) throw failure(refusal[0] as ErrorCode, store, refusal[1] ?? "");
}

/** Returns the writes that a failover could lose under these settings, as a message; null without such a risk. */
export function standbyRisk(store: unknown, kind: Kind, found: ReadonlyMap<string, string>): string | null {
  const risk = tools().standbyRisk(kind, found as Map<string, string>);
  return risk === undefined ? null : shown(`${store}: ${risk}`);
}

/** Makes an `UNSAFE_STORE` for a finding that is not a setting, with its cure. */
export function unsafe(store: unknown, found: string, cure: string): SnowmintError {
  return failure("UNSAFE_STORE", store, tools().refusalOf(found, cure));
}

/** Returns the code of an error of an engine's client, as core knows it; empty if it has none. */
export function codeOf(kind: Kind, error: unknown): string {
  const { code, errno, name } = Object(error) as { code?: unknown; errno?: unknown; name?: unknown };
  return String({ postgres: code, mysql: errno, dynamodb: name, redis: "", sqlite: "" }[kind] ?? "");
}

/** Turns an error of an engine's client into `STORE_UNAVAILABLE`, or `INVALID_STORE` if the configuration is wrong. */
export function failed(store: unknown, kind: Kind, cause: unknown): SnowmintError {
  const cure = tools().misconfigured(kind, codeOf(kind, cause), messageOf(cause));
  return cure === undefined ? unavailable(store, cause) : unavailable(store, cause, "INVALID_STORE", cure);
}

/** Throws `UNSAFE_STORE` for a database file that can be lost where it is, or that others who name it may not see. */
export function refuseLossyPlace(store: unknown, file: string): void {
  for (const { path, fileSystem, mounts, isDirectory } of surroundings(file)) {
    const refusal = tools().refusePlace(path, mounts.join("\n"), fileSystem, isDirectory);
    if (refusal !== undefined) throw failure("UNSAFE_STORE", store, refusal);
  }
}

/** Warns the process if the host can: in Node on stderr and by its event `warning`. */
const warn = (message: string): void =>
  (globalThis as { process?: { emitWarning?(message: string, type: string): void } }).process?.emitWarning?.(
    message,
    "SnowmintWarning",
  );

/**
 * Judges the settings of an engine by core's table, and warns of each finding once.
 *
 * A setting by which the server itself can lose confirmed writes is refused at each look. One that matters in a failover is
 * refused at the first look and by claims, unless `allowStandby`; later looks report it.
 */
export class Findings {
  /** Why the last look refused the store. */
  refused: string | undefined;
  /** The writes that a failover could lose, as the last look found. */
  risk: string | null = null;
  readonly #kind: Kind;
  readonly #allowStandby: boolean;
  #admitted = false;

  constructor(kind: Kind, allowStandby: boolean) {
    this.#kind = kind;
    this.#allowStandby = allowStandby;
  }

  /** Judges the settings that a look has found. */
  judge(store: unknown, found: ReadonlyMap<string, string>): void {
    try {
      refuseUnsafe(store, this.#kind, found);
    } catch (error) {
      const { message } = error as Error;
      if (this.refused !== message) warn(`nothing new is granted: ${message}`);
      this.refused = message;
      throw error;
    }
    this.refused = undefined;
    this.note(store, found);
  }

  /** Judges the settings that matter in a failover. */
  note(store: unknown, found: ReadonlyMap<string, string>): void {
    const risk = standbyRisk(store, this.#kind, found);
    if (risk && risk !== this.risk) warn(risk);
    this.risk = risk;
    if (!this.#admitted) this.refuseStandby();
    this.#admitted = true;
  }

  /** Refuses a claim that a failover could lose. */
  refuseStandby(): void {
    if (this.risk && !this.#allowStandby) throw new SnowmintError("UNSAFE_STORE", this.risk);
  }
}
