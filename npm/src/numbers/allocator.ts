// Per-user sequences over a store: the sections of an allocator, each with core's machine and a task that keeps it.
import { label as labelOfHost } from "#label";
import { SnowmintError } from "../errors.js";
import { monotonicMs } from "../generator/waiting.js";
import { digits, duration } from "../input.js";
import { numbers, type Request, type WasmAllocator, type WasmSection, type WasmSectionClaim } from "../wasm/numbers.js";
import { ask } from "./calls.js";
import { News } from "./news.js";
import { isUnanswered, type NumberStore, nameOf } from "./number-store.js";
import { isPinned, pin } from "./pins.js";
import type { UsersOptions } from "./users-options.js";
import { WakingClock } from "./waking-clock.js";

/** How many sections a close gives back at the same time. */
const MAX_CONCURRENT = 64;
const BACKGROUND = { background: true };

/** An allocator over a store. */
export class Allocator {
  readonly #store: NumberStore;
  readonly #set: string;
  readonly #maxWaitMs: number;
  readonly #allocator: WasmAllocator;
  /** The prefix of the keys of sections, and the key of their size. */
  readonly #prefix: string;
  readonly #sizeKey: string;
  readonly #clock = new WakingClock();
  readonly #places = new Map<string, Place>();
  #pinned: Promise<void> | undefined;
  #closed = false;

  constructor(store: NumberStore, set: string, maxWaitMs: number, options: UsersOptions) {
    const { size, step, windowMs, label = labelOfHost() } = options;
    this.#store = store;
    this.#set = set;
    this.#prefix = `${numbers().keyOf("sections/", set)}/`;
    this.#sizeKey = numbers().keyOf("settings/sections/", set);
    this.#maxWaitMs = maxWaitMs;
    const [count, rise] = [size, step].map((value) => (value === undefined ? value : digits(value)));
    const window = windowMs === undefined ? windowMs : duration("windowMs", windowMs);
    this.#allocator = new (numbers().Allocator)(count, rise, window, maxWaitMs, nameOf(label, "label"));
  }

  /** Takes the next number of a user. */
  async next(id: string): Promise<bigint> {
    const number = this.#allocator.section(id);
    const deadlineMs = monotonicMs() + this.#maxWaitMs;
    for (let trouble: SnowmintError | undefined; ; ) {
      const place = this.#place(number, id);
      const taken = this.#take(place, id);
      if (typeof taken === "bigint") return taken;
      const { code, retryAfterMs } = taken;
      const again = code === "WINDOW_CLOSED" || code === "STORE_UNAVAILABLE" || retryAfterMs;
      const leftMs = deadlineMs - monotonicMs();
      // The error of a claim that has ended explains more than the error of a claim that has just begun.
      if (!again || leftMs <= 0 || place.staysElsewhere(deadlineMs)) throw (retryAfterMs && trouble) || taken;
      await place.news.within(Math.min(this.#allocator.callMs(retryAfterMs), leftMs));
      const { refusal } = place;
      if (refusal) throw refusal;
      if (place.isOver) trouble = place.trouble;
    }
  }

  /** Gives every section back. */
  async close(): Promise<void> {
    this.#closed = true;
    const places = [...this.#places.values()];
    this.#places.clear();
    const releasing = async () => {
      for (let place = places.pop(); place; place = places.pop()) {
        await this.#release(place);
        place.look.tell();
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, releasing));
  }

  /** Returns the place of a section. If it is new, its claim begins. */
  #place(number: string, user: string): Place {
    if (this.#closed) throw numbers().closed();
    const found = this.#places.get(number);
    if (found) {
      found.wantedMs = monotonicMs();
      return found;
    }
    const { maxSections } = this.#allocator;
    const isFull = () => this.#places.size >= maxSections;
    if (isFull() && !this.#giveBackUnused(() => !isFull())) throw this.#noRoom(false);
    const place = new Place(number, this.#prefix + number);
    this.#places.set(number, place);
    void this.#run(place, user);
    return place;
  }

  /** Takes a number, and begins the request that it needs. Returns the number, or the reason why it is not ready. */
  #take(place: Place, user: string): bigint | SnowmintError {
    const busy = () => place.trouble ?? (numbers().dry(20) as SnowmintError);
    for (;;) {
      const { section } = place;
      if (!section) return place.isOver ? (place.trouble ?? (numbers().closed() as SnowmintError)) : busy();
      try {
        const next = section.next(user, place.nowMs(this.#clock));
        if (next?.kind === "done") return next.value;
        if (next) {
          void this.#ask(place, section, next);
          return busy();
        }
      } catch (error) {
        if (!(error instanceof SnowmintError)) throw error;
        return error.retryAfterMs ? busy() : error;
      }
      this.#makeRoom();
    }
  }

  /** Claims a section and keeps it, until it ends. */
  async #run(place: Place, user: string): Promise<void> {
    try {
      if (await this.#claim(place, user)) await this.#keep(place);
    } catch (error) {
      place.trouble = this.#failed(error, place);
    }
    this.#forget(place);
  }

  /** Claims a section. Returns false if no caller wants it any more. */
  async #claim(place: Place, user: string): Promise<boolean> {
    const { claimRetryMs, patienceMs } = this.#allocator;
    const isUnwanted = () => this.#isUnwanted(place, patienceMs);
    const pause = async (error: unknown): Promise<void> => {
      place.trouble = this.#failed(error, place);
      place.claim = undefined;
      if (!isUnwanted()) await new News().within(claimRetryMs, BACKGROUND);
    };
    for (let isKnown = false; !isKnown; ) {
      try {
        await this.#pin();
        isKnown = true;
      } catch (error) {
        if (!isUnanswered(error)) throw error;
        await pause(error);
        if (isUnwanted()) return false;
      }
    }
    const claim = this.#allocator.claim(user, crypto.getRandomValues(new Uint8Array(16)));
    place.sleptMs = this.#clock.sleptMs();
    for (;;) {
      const next = claim.next(monotonicMs());
      if (next.kind !== "done") {
        const failed = await this.#askClaim(place, claim, next);
        if (next.kind === "read" && !failed)
          place.trouble = claim.heldBy ? new SnowmintError("WINDOW_CLOSED", claim.heldBy) : undefined;
        if (failed) await pause(failed);
        if (failed && isUnwanted()) return false;
      } else if (next.value === undefined) {
        place.hold(claim.section()!);
        return true;
      } else {
        if (isUnwanted()) return false;
        place.claim = claim;
        place.news.tell();
        await place.look.within(this.#allocator.lookMs(next.value), BACKGROUND);
      }
    }
  }

  /** Sends the request of a claim. Resolves with the error of a store that did not answer. */
  async #askClaim(place: Place, claim: WasmSectionClaim, next: Request): Promise<unknown> {
    const failed = await ask(this.#store, place.key, claim, next);
    if (failed || !claim.isNew) return failed;
    try {
      claim.beginAbove(await this.#store.floor());
    } catch (error) {
      claim.answered(undefined);
      return error;
    }
  }

  /** Pins the size of the set's sections, once. */
  #pin(): Promise<void> {
    const pinning = async () => {
      if (await isPinned(this.#store, this.#sizeKey, this.#allocator.pin())) return;
      // Records of older versions have a size that is not pinned.
      for (const { value } of await this.#store.list(this.#prefix)) this.#allocator.refuseOther(value);
      await pin(this.#store, this.#sizeKey, this.#set, this.#allocator.pin());
    };
    this.#pinned ??= pinning().catch((error) => {
      this.#pinned = undefined;
      throw error;
    });
    return this.#pinned;
  }

  /** Renews a section until it is lost, or has no requests. */
  async #keep(place: Place): Promise<void> {
    const { keepMs, idleMs } = this.#allocator;
    for (;;) {
      if (!this.#closed) await place.look.within(keepMs, BACKGROUND);
      const { section } = place;
      if (!section) return;
      if (this.#isUnwanted(place, idleMs)) return this.#release(place);
      const due = section.renew(place.nowMs(this.#clock));
      if (due) await this.#ask(place, section, due);
    }
  }

  /** Sends a request to the store, and its answer to the section. */
  async #ask(place: Place, section: WasmSection, next: Request): Promise<void> {
    let trouble: unknown;
    const check = () => {
      if (place.section !== section) throw new Error("the section is over");
    };
    try {
      trouble = await ask(this.#store, place.key, section, next, check);
    } catch (error) {
      if (place.section !== section) return;
      section.answered(undefined);
      trouble = error;
    }
    place.trouble = trouble === undefined ? undefined : this.#failed(trouble, place);
    try {
      section.settle(place.nowMs(this.#clock));
    } catch {
      // The next caller claims again, and gets the holder's label in the error.
      return this.#forget(place);
    }
    place.news.tell();
  }

  /** Gives a section back. */
  async #release(place: Place): Promise<void> {
    const free = place.end();
    if (free?.kind !== "write") return;
    // Without an answer the successor waits for a window.
    await this.#store.write(place.key, free.record, free.version).catch(() => {});
  }

  #forget(place: Place): void {
    if (this.#places.get(place.number) === place) this.#places.delete(place.number);
    place.end();
    place.news.tell();
    place.look.tell();
  }

  /** Returns whether the allocator is closed, or the last request is older than this time. */
  #isUnwanted(place: Place, forMs: number): boolean {
    return this.#closed || monotonicMs() - place.wantedMs > forMs;
  }

  /** Makes room for users: gives back sections without requests; otherwise the section with the most users forgets them. */
  #makeRoom(): void {
    const { wantedRoom } = this.#allocator;
    if (this.#giveBackUnused(() => this.#allocator.room >= wantedRoom)) return;
    const held = [...this.#places.values()].flatMap(({ section }) => section ?? []);
    const largest = held.reduce((most, each) => (each.users > most.users ? each : most), held[0]!);
    if (!largest?.users) throw this.#noRoom(true);
    largest.forget();
  }

  /** Gives back sections without requests, the longest unused first, at least one, until there is room. Returns how many. */
  #giveBackUnused(hasRoom: () => boolean): number {
    const beforeMs = monotonicMs() - this.#allocator.roomAfterMs;
    const unused = [...this.#places.values()].filter(({ section, wantedMs }) => section && wantedMs <= beforeMs);
    unused.sort((a, b) => a.wantedMs - b.wantedMs);
    let count = 0;
    for (const place of unused) {
      this.#places.delete(place.number);
      void this.#release(place);
      place.look.tell();
      count++;
      if (hasRoom()) break;
    }
    return count;
  }

  #noRoom(forUsers: boolean): SnowmintError {
    return new SnowmintError("EXHAUSTED", this.#allocator.noRoom(forUsers), this.#allocator.roomRetryMs);
  }

  #failed(error: unknown, place: Place): SnowmintError {
    const explained = this.#store.explained(error, place.key);
    return explained instanceof SnowmintError ? explained : this.#store.unavailable(String(error), error);
  }
}

/** A section, from the first request to its end. */
class Place {
  /** The section while it is held. */
  section: WasmSection | undefined;
  /** The claim that has seen another holder. */
  claim: WasmSectionClaim | undefined;
  /** The error that stops progress. */
  trouble: SnowmintError | undefined;
  /** The time of the last request. */
  wantedMs = monotonicMs();
  isOver = false;
  /** How long the host had slept when the claim began, ms. */
  sleptMs = 0;
  /** Wakes the callers, and the task of the section. */
  readonly news = new News();
  readonly look = new News();

  constructor(
    readonly number: string,
    readonly key: string,
  ) {}

  /** The time of the section: the monotonic clock, and the sleep of the host since the claim. */
  nowMs(clock: WakingClock): number {
    return monotonicMs() + clock.sleptMs() - this.sleptMs;
  }

  hold(section: WasmSection): void {
    this.section = section;
    this.claim = undefined;
    this.trouble = undefined;
    this.news.tell();
  }

  /** Ends the section. Returns the request that frees it. */
  end(): Request | undefined {
    const free = this.section?.release();
    this.section?.free();
    this.section = undefined;
    this.isOver = true;
    return free;
  }

  /** The error of a claim that would fail again. */
  get refusal(): SnowmintError | undefined {
    const { code } = this.trouble ?? {};
    const passes = code === "STORE_UNAVAILABLE" || code === "WINDOW_CLOSED" || code === "EXHAUSTED";
    return this.isOver && !passes ? this.trouble : undefined;
  }

  /**
   * Returns whether another allocator keeps the section until the deadline. If its record is not current, wakes the claim to read it
   * again, and returns false.
   */
  staysElsewhere(deadlineMs: number): boolean {
    if (!this.claim) return false;
    const stays = this.claim.stays(monotonicMs(), deadlineMs);
    if (stays === undefined) this.look.tell();
    return stays ?? false;
  }
}
