// The findings of the looks at a store's settings.
import { SnowmintError } from "../errors.js";
import { type Kind, refuseUnsafe, standbyRisk } from "./durability.js";

/** Tells the process, as far as the host has a way: in Node on stderr and by its event `warning`. */
const warn = (sentence: string): void =>
  (globalThis as { process?: { emitWarning?(sentence: string, type: string): void } }).process?.emitWarning?.(
    sentence,
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
