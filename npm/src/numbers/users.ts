import { digits, type Integer, type Owner, read } from "../input.js";
import type { Store } from "../lease/store.js";
import type { HttpStore } from "../stores/http.js";
import { numbers } from "../wasm/numbers.js";
import { Allocator } from "./allocator.js";
import { Call } from "./calls.js";
import { maxWaitOf } from "./news.js";
import { NumberStore, nameOf } from "./number-store.js";
import { takeOne } from "./service.js";
import type { UsersOptions } from "./users-options.js";

const OPTIONS: Owner = {
  of: "users",
  names: Object.keys({ size: 0, step: 0, windowMs: 0, maxWaitMs: 0, label: 0 } satisfies Record<keyof UsersOptions, 0>),
};

/**
 * Opens an allocator of numbers for a set of users, over a store, which stays the caller's. Each user has a sequence, as in WeChat's
 * seqsvr. Over an `HttpStore` the service has the sections, and their options.
 *
 * Throws `INVALID_ID` for an option that is out of range, `INVALID_TEXT` for a name of the set that is not 1 to 128 bytes long, and
 * TypeError for a store without the method `add`, and for an option other than `maxWaitMs` over an `HttpStore`.
 *
 * @example
 * await using messages = users(store, "messages");
 * await messages.next(7); // 1n
 */
export const users = (store: Store | HttpStore, set?: string, options: UsersOptions = {}): Users =>
  new Users(store, set, options);

/**
 * An allocator of numbers for users.
 *
 * A user's numbers increase by one, and by more when the section of the user changes its allocator or forgets its users
 * because the memory is full. Several processes may serve one set; each section belongs to one of them at a time. An
 * allocator claims a section at the first request, and gives it back after two windows without a request, at least a
 * minute. The sections of a process that ends without `close` are free after `windowMs`.
 */
export class Users {
  readonly #store: NumberStore;
  readonly #set: string;
  /** The path of the set in a service. */
  readonly #path: string;
  readonly #maxWaitMs: number;
  /** Undefined over a service. */
  readonly #allocator: Allocator | undefined;
  #closed = false;

  /** @internal */
  constructor(store: Store | HttpStore, set = "users", options: UsersOptions) {
    const { maxWaitMs, ...others } = read(options, OPTIONS);
    this.#store = new NumberStore(store, "users");
    this.#set = nameOf(set, "the name of a set");
    this.#maxWaitMs = maxWaitOf(maxWaitMs);
    const [option] = Object.keys(others);
    if (this.#store.service && option) throw new TypeError(`${store} has the sections and their ${option}`);
    this.#path = numbers().keyOf("users/", set);
    if (!this.#store.service) this.#allocator = new Allocator(this.#store, set, this.#maxWaitMs, others);
  }

  /**
   * The next number of a user; a user is a number from 0 to 2^64-1. If another allocator holds the section, the call waits only if the
   * section may become free in time.
   *
   * Rejects with `WINDOW_CLOSED` and the label of another allocator that holds the section, and after a close; `STORE_UNAVAILABLE` if
   * the store does not answer in time; `EXHAUSTED` after 2^63-1, and with `retryAfterMs` while all sections are in use; `INVALID_ID`
   * for a wrong user, and if the set has another size of sections.
   */
  async next(user: Integer): Promise<bigint> {
    const id = digits(user);
    if (this.#closed) throw numbers().closed();
    if (this.#allocator) return this.#allocator.next(id);
    return Call.within(this.#store, this.#maxWaitMs, () => takeOne(this.#store.service!, `${this.#path}/${id}/next`));
  }

  /** Closes the allocator, and gives every section back, so that other allocators need not wait. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#allocator?.close();
  }

  /** As `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The set and its store, in messages. */
  toString(): string {
    return `Users(${this.#set}, ${this.#store})`;
  }
}
