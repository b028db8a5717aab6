// Slots of a browser: a node for each tab and worker of an origin. Windows are in IndexedDB, which all of them see; a Web
// Lock tells who is alive, so that a tab that was frozen finds its node again, and nobody waits for one that is gone.

import { isDeviceAndTab, partOf, SharedDevice } from "./device.js";
import { SLOT_MS } from "./generated/tables.js";
import type { Held, Holding } from "./held.js";
import { type Kit, Layout, take } from "./kit.js";
import { leaseOver, noSlots, refuseNode } from "./lease.js";
import type { Guard } from "./leased.js";
import { isLessor } from "./lessee.js";
import type { Lease, LeaseOptions, Spec } from "./snowflake.js";
import type { Found, LeaseStore, Listed } from "./store.js";

const RECORDS = "records";
/** How long a transaction may take, ms. */
const PATIENCE_MS = 5000;

/** The records of an origin, in IndexedDB. */
class TabStore implements LeaseStore {
  #open: Promise<IDBDatabase> | undefined;

  async read(key: string): Promise<Found | null> {
    return (
      (await this.#transact<Found | undefined>("readonly", (records, tell) => {
        const found = records.get(key);
        found.onsuccess = () => tell(found.result);
      })) ?? null
    );
  }

  write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    return this.#transact("readwrite", (records, tell) => {
      const found = records.get(key);
      found.onsuccess = () => {
        const there = (found.result as Found | undefined)?.version ?? 0;
        if (there !== expectedVersion) return tell(null);
        records.put({ value, version: there + 1 }, key);
        tell(there + 1);
      };
    });
  }

  list(prefix: string): Promise<Listed[]> {
    return this.#transact("readonly", (records, tell) => {
      const range = IDBKeyRange.bound(prefix, `${prefix}~`);
      const [keys, found] = [records.getAllKeys(range), records.getAll(range)];
      found.onsuccess = () =>
        tell(keys.result.map((key, at) => ({ ...found.result[at], name: String(key).slice(prefix.length) })));
    });
  }

  async clockMs(): Promise<null> {
    // That of this machine, as everybody else's here.
    return null;
  }

  toString(): string {
    return `IndexedDB of ${location.origin}`;
  }

  /** What `work` tells, once it is on disk. */
  async #transact<T>(
    mode: IDBTransactionMode,
    work: (records: IDBObjectStore, tell: (answer: T) => void) => void,
  ): Promise<T> {
    const database = await (this.#open ??= this.#connect());
    return new Promise((resolve, reject) => {
      let answer: T;
      const transaction = this.#begin(database, mode);
      const late = setTimeout(() => transaction.abort(), PATIENCE_MS);
      transaction.oncomplete = () => {
        clearTimeout(late);
        resolve(answer);
      };
      transaction.onabort = () => {
        clearTimeout(late);
        reject(transaction.error ?? new Error(`no answer within ${PATIENCE_MS} ms`));
      };
      work(transaction.objectStore(RECORDS), (told) => {
        answer = told;
      });
    });
  }

  #begin(database: IDBDatabase, mode: IDBTransactionMode): IDBTransaction {
    try {
      return database.transaction(RECORDS, mode, { durability: "strict" });
    } catch (error) {
      // Its connection is closing: the next one is opened anew.
      this.#open = undefined;
      throw error;
    }
  }

  async #connect(): Promise<IDBDatabase> {
    // Somebody may delete or upgrade it meanwhile: it is opened again then.
    const forget = () => {
      this.#open = undefined;
    };
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => fail(new Error(`it does not open within ${PATIENCE_MS} ms`)), PATIENCE_MS);
      const fail = (error: unknown) => {
        clearTimeout(late);
        forget();
        reject(error);
      };
      const request = indexedDB.open("snowmint", 1);
      request.onupgradeneeded = () => request.result.createObjectStore(RECORDS);
      request.onerror = () => fail(request.error);
      request.onsuccess = () => {
        clearTimeout(late);
        const database = request.result;
        database.onclose = forget;
        database.onversionchange = () => {
          forget();
          database.close();
        };
        resolve(database);
      };
    });
  }
}

/** What is leased by this page, and given back when it goes. */
let holders: Set<Held> | undefined;

function holdersOfPage(): Set<Held> {
  if (holders) return holders;
  const all = new Set<Held>();
  // A page that is kept for the back button must neither hold a lock nor be within a transaction: others that wait for
  // either would have the browser drop the page.
  globalThis.addEventListener?.("pagehide", ({ persisted }) => {
    for (const held of all)
      if (persisted) held.rest();
      else void held.release();
  });
  globalThis.addEventListener?.("pageshow", () => {
    for (const held of all) void held.renew();
  });
  return (holders = all);
}

/** Web Locks of the origin. */
class TabGuard implements Guard {
  async held(prefix: string): Promise<number[]> {
    const { held = [] } = await navigator.locks.query().catch((error) => {
      throw refused(error);
    });
    const names = held.map(({ name }) => name ?? "").filter((name) => name.startsWith(lockOf(prefix)));
    return names.map((name) => Number(name.slice(lockOf(prefix).length)));
  }

  hold(key: string, lost: () => void): Promise<(() => void) | null> {
    return new Promise((resolve, reject) => {
      let granted = false;
      const holding = navigator.locks.request(lockOf(key), { ifAvailable: true }, (lock) => {
        granted = lock !== null;
        return lock ? new Promise<void>((letGo) => resolve(letGo)) : resolve(null);
      });
      // Granted, it ends that way if another one steals the lock.
      holding.catch((error) => (granted ? lost() : reject(refused(error))));
    });
  }
}

const refused = (error: unknown) => noSlots(`Web Locks are refused (${error})`);
const lockOf = (key: string): string => `snowmint/${key}`;

/** The tabs of a device whose nodes are vouched for. */
function tabsOf(device: number, { whole, vouched }: Holding): number[] {
  const fields = vouched().map((node) => whole.decode(whole.encode({ timestampMs: whole.epochMs, node })).fields);
  return fields.filter((each) => each.device === device).map(({ tab }) => tab!);
}

let slots: { store: TabStore; guard: TabGuard } | undefined;

/** What slots are made of. */
function slotsOfOrigin(): { store: TabStore; guard: TabGuard } {
  if (!globalThis.navigator?.locks)
    throw noSlots("there are no Web Locks here (of pages only those of https and of localhost have them)");
  if (!globalThis.indexedDB) throw noSlots("there is no IndexedDB here");
  return (slots ??= { store: new TabStore(), guard: new TabGuard() });
}

/**
 * A lease where there is no addon: over the caller's store, or else a slot of this tab or worker; of a layout whose node is
 * a device and a tab, the device over the store and the tab as a slot.
 */
export async function lease(kit: Kit, spec: Spec, options: LeaseOptions): Promise<Lease> {
  take(kit);
  refuseNode(options);
  const label = globalThis.location?.host || "a browser";
  const { store } = options;
  if (!store) {
    const { store, guard } = slotsOfOrigin();
    return leaseOver(spec, options, { store, guard, holders: holdersOfPage(), label, defaultMs: SLOT_MS });
  }
  // A store of records has no time to write when a page goes.
  if (!isDeviceAndTab(spec.layout))
    return leaseOver(spec, options, { label, holders: isLessor(store) ? holdersOfPage() : undefined });
  const { store: records, guard } = slotsOfOrigin();
  const divide = (wanted: Holding): Partial<Holding> => {
    const part = (name: "device" | "tab") => partOf(spec.layout, name, (text) => Layout.parse(text));
    const layout = part("device");
    const device = new SharedDevice({ ...wanted, layout, namespaceOf: layout, excluded: () => [] }, records);
    const excluded = () => tabsOf(device.node, wanted);
    return { device, layout: part("tab"), store: records, guard, defaultMs: SLOT_MS, excluded };
  };
  return leaseOver(spec, options, { label, holders: holdersOfPage(), divide });
}
