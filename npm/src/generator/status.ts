// The state that a generator reports.
import type { SequenceStart } from "./options.js";

/** A window of time, Unix ms; the end is not part of it. */
export interface LeaseWindow {
  /** Its first ms. */
  start: number;
  /** The first ms after it. */
  end: number;
}

/** The state of a generator. */
export interface SnowflakeStatus {
  /** The text of the layout. */
  layout: string;
  /** The node in the IDs. */
  node: number;
  /** The window that is granted; null for a node that the caller vouches for. */
  window: LeaseWindow | null;
  /** The reservation within which the windows lie; null without one. */
  reserved: LeaseWindow | null;
  /** The namespace of the lease. */
  namespace: string | null;
  /** Why the lease was lost, if it was. */
  lost: string | null;
  /** Slot files, or records of a store, passed over because they are not valid. */
  skipped: string[];
  /** How many renewals of the lease have failed since the last one that did not. */
  renewalFailures: number;
  /** Why the last renewal failed, if none has succeeded since. */
  renewalError: string | null;
  /** The writes that a failover of the store could lose, such as to an asynchronous standby; the lease goes on. */
  standbyRisk: string | null;
  /** By how many ms this clock is ahead of the store's; null if the store has none. */
  skewMs: number | null;
  /**
   * How far the times of IDs can be from the store's clock, or from this machine's for its slots, ms: IDs of two generators sort in the
   * order of their calls, if the calls lie further apart than the sum of both. null for a vouched node, a clock of the
   * caller, and a store without a clock.
   */
  disorderMs: number | null;
  /** How far IDs may run ahead of the clock, ms. */
  maxAheadMs: number;
  /** How long one call may wait for the clock, ms. */
  maxWaitMs: number;
  /** Where the sequence begins in a new tick. */
  sequenceStart: SequenceStart;
  /** Whether `close` was called. */
  closed: boolean;
}

/** The part of the state that only leases have. @internal */
export type LeaseStatus = Pick<
  SnowflakeStatus,
  | "reserved"
  | "namespace"
  | "lost"
  | "skipped"
  | "renewalFailures"
  | "renewalError"
  | "standbyRisk"
  | "skewMs"
  | "disorderMs"
>;
