import { monotonicMs } from "../generator/waiting.js";
import { digits, type Instant, type Integer, type Owner, read, unixMs } from "../input.js";
import { numbers, type WasmFormatted } from "../wasm/numbers.js";
import { Call, Turns } from "./calls.js";
import { nameOf } from "./number-store.js";
import { Sequence } from "./sequences.js";

/** The options of `Formatted`. */
export interface FormattedOptions {
  /** When the counter begins again; `"none"` if missing. The pattern must show the date of the period. */
  period?: "none" | "year" | "month" | "day" | undefined;
  /** The zone of dates: `Z`, `UTC` or an offset such as `+01:00`; `Z` if missing. */
  zone?: string | undefined;
  /** The result for a number with more digits than the counter: `EXHAUSTED`, or a longer text; `"error"` if missing. */
  overflow?: "error" | "grow" | undefined;
  /** The first number of a sequence that is new, 0 to 2^63-1; 1 if missing. */
  start?: Integer | undefined;
  /** The step of a sequence that is new; 1 if missing. */
  increment?: Integer | undefined;
  /** The clock, Unix ms, in place of the system's. */
  clock?: (() => number) | undefined;
}

/** The parts of a text. */
export interface FormattedReading {
  /** The value of the counter. */
  number: bigint;
  /** The period whose sequence gave the number, such as `2026-11`; empty without a period. */
  period: string;
  /** The year; undefined if texts do not show it, as the other parts of a date. */
  year: number | undefined;
  /** The month, 1 to 12. */
  month: number | undefined;
  /** The day of the month, 1 to 31. */
  day: number | undefined;
  /** The hour, 0 to 23. */
  hour: number | undefined;
}

const OPTIONS: Owner = {
  of: "Formatted",
  names: Object.keys({ period: 0, zone: 0, overflow: 0, start: 0, increment: 0, clock: 0 } satisfies Record<
    keyof FormattedOptions,
    0
  >),
};

/**
 * Texts such as `INV-2026-000042`, with the numbers of a sequence.
 *
 * With a period each year, month or day has a separate sequence, such as `invoices@2026`, which the first use makes. So
 * no text repeats, whatever clocks show, unless a sequence is set back. The time comes from `clock`, but is never later
 * than the clock of the store, if the store has one. A call that fails after it took a number leaves a gap.
 *
 * The constructor throws `INVALID_TEXT` for a wrong pattern, period, zone or overflow, and for a name without room for the period;
 * `INVALID_ID` for a wrong start or increment; and TypeError unless `sequence` is one of `Sequences.sequence`, and `clock` a function.
 *
 * @example
 * const invoices = new Sequences(store).sequence("invoices");
 * const texts = new Formatted(invoices, "INV-{yyyy}-{000000}", { period: "year", zone: "+01:00" });
 * await texts.next(); // "INV-2026-000001"
 */
export class Formatted {
  readonly #sequence: Sequence;
  readonly #machine: WasmFormatted;
  /** Whether the caller gave the numbers of new sequences. */
  readonly #isGiven: boolean;
  readonly #clock: () => number;
  /** Reads of the store's clock run one after the other. */
  readonly #turns = new Turns();
  /** The sequences that are known to exist. */
  readonly #made = new Set<string>();

  /** Over a sequence, which need not exist. */
  constructor(sequence: Sequence, pattern: string, options: FormattedOptions = {}) {
    const { start, increment, clock = Date.now, ...given } = read(options, OPTIONS);
    if (!(sequence instanceof Sequence))
      throw new TypeError('Formatted takes a sequence, such as new Sequences(store).sequence("invoices")');
    if (typeof clock !== "function") throw new TypeError("a clock is a function");
    const names = [given.period, given.zone, given.overflow].map((name) => (name === undefined ? name : String(name)));
    const values = [start, increment].map((value) => (value === undefined ? value : digits(value)));
    const text = nameOf(pattern, "a pattern");
    this.#machine = new (numbers().Formatted)(text, names[0], names[1], names[2], values[0], values[1]);
    this.#machine.refuseName(sequence.name);
    this.#sequence = sequence;
    this.#clock = clock;
    this.#isGiven = start !== undefined || increment !== undefined;
  }

  /**
   * The text of the next number. Waits as the session does. Rejects with `EXHAUSTED` for a number with too many digits and after the
   * last one, `TIME_OVERFLOW` for a year that the pattern cannot show, `INVALID_ID` if the sequence cycles, and as `Sequences.next`.
   */
  async next(): Promise<string> {
    const { session, name } = this.#sequence;
    return Call.within(session.store, session.maxWaitMs, async (call) => {
      const atMs = this.#machine.showsTime ? await this.#timeMs(call) : 0;
      const sequence = this.#machine.sequence(name, atMs);
      if (!this.#made.has(sequence)) {
        await session.ready(sequence, this.#machine.record, this.#isGiven);
        this.#made.add(sequence);
      }
      call.check();
      return this.#machine.text(String(await session.next(sequence)), atMs);
    });
  }

  /** The text of a number at a time (Date or Unix ms). Takes no number. Throws as `next` rejects. */
  format(number: Integer, at: Instant): string {
    return this.#machine.text(digits(number), unixMs(at));
  }

  /** Reads a text back. Throws `INVALID_TEXT` for a text that the pattern cannot make, such as one with wrong check digits. */
  parse(text: string): FormattedReading {
    return this.#machine.parse(nameOf(text, "a text")) as FormattedReading;
  }

  /** The sequence, in messages. */
  toString(): string {
    return `Formatted(${this.#sequence})`;
  }

  /** Returns the time of the next text, Unix ms. */
  #timeMs(call: Call): Promise<number> {
    return this.#turns.take(async () => {
      const sentMs = monotonicMs();
      if (this.#machine.isStale(sentMs)) await Promise.race([call.end, this.#heed(sentMs)]);
      return this.#machine.timeMs(unixMs(this.#clock()), monotonicMs());
    });
  }

  async #heed(sentMs: number): Promise<void> {
    try {
      const clockMs = await this.#sequence.session.store.clockMs();
      this.#machine.heed(clockMs, sentMs, monotonicMs());
    } catch (error) {
      // The last answer still says enough. If the store is gone, so is its sequence.
      if (!this.#machine.isKnown) throw error;
    }
  }
}
