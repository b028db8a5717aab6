// The records of an origin, in IndexedDB, which all its tabs and workers see.
//
// A browser that clears the data of a site deletes the records of tabs that go on minting, and new tabs see neither the
// records nor the Web Locks of the old tabs. So a tab that makes a new database sends a message to all tabs. They stop
// at once, put their records back, and claim again; and every claim waits a moment for this. A tab that is busy with
// one long task misses the message, and may mint until the end of its window. The first claims in a new database prefer
// a random node, so they rarely take the node of such a tab. If they do, the next renewal of that tab fails, because
// versions begin at random.
import type { Layout } from "../layout/layout.js";
import { recounted } from "../lease/claim.js";
import type { LeaseStore, Listed, Versioned } from "../lease/store.js";

const RECORDS = "records";
/** The key of the time when the database was made, Unix ms. */
const BORN = "born";
/** Begins the key of a namespace's record. */
const LAYOUTS = "layouts/";
/** Begins the key of a record that a closing page has left: it counts while the database has its version. */
const LEFT = "left/";
/** Begins the name of such a record in local storage. */
const LEAVING = "snowmint/left/";
/** How long a transaction may take, ms. */
const PATIENCE_MS = 5000;
/** How long others get to fill a new database, and how long a window may last that they did not put back, ms. */
const HEARING_MS = 50;
const YOUNG_MS = 10_000;

/** A record, and whether it was put back. */
interface Kept extends Versioned {
  again?: boolean;
}

/** The records of an origin. */
export class OriginStore implements LeaseStore {
  #open: Promise<IDBDatabase> | undefined;
  /** The open database, and the time when it was made. */
  #database: IDBDatabase | undefined;
  #bornMs: number | undefined;
  #channel: BroadcastChannel | undefined;
  #going = false;
  /** Whether this realm has a record in the database that is open. */
  #hasWritten = false;
  /** The records of this realm, to be put back into a new database. */
  readonly #written = new Map<string, Versioned>();
  readonly #cleared: () => void;

  /** `cleared` is called when the database is gone. */
  constructor(cleared: () => void) {
    this.#cleared = cleared;
  }

  async read(key: string): Promise<Versioned | null> {
    return (
      (await this.#transact<Versioned | undefined>("readonly", (records, tell) => {
        const [found, left] = [records.get(key), records.get(LEFT + key)];
        left.onsuccess = () => tell(newer(found.result, left.result));
      })) ?? null
    );
  }

  write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    if (this.#going) return leave(key, { value, version: expectedVersion });
    return this.#transact("readwrite", (records, tell) => {
      const found = records.get(key);
      found.onsuccess = () => {
        const there = (found.result as Versioned | undefined)?.version ?? 0;
        if (there !== expectedVersion) return tell(null);
        const record = { value, version: there ? there + 1 : firstVersion() };
        records.put(record, key);
        this.#written.set(key, record);
        this.#hasWritten = true;
        tell(record.version);
      };
    });
  }

  async list(prefix: string): Promise<Listed[]> {
    const leaving = leavings();
    const listed = await this.#transact<Listed[]>(leaving.length ? "readwrite" : "readonly", (records, tell) => {
      for (const { key, record } of leaving) records.put(record, LEFT + key);
      const under = (prefix: string) => {
        const range = IDBKeyRange.bound(prefix, `${prefix}~`);
        return [records.getAllKeys(range), records.getAll(range)] as const;
      };
      const [[keys, found], [leftKeys, left]] = [under(prefix), under(LEFT + prefix)];
      left.onsuccess = () => {
        const leftOf = new Map(leftKeys.result.map((key, at) => [String(key).slice(LEFT.length), left.result[at]]));
        const listed = ({ value, version }: Versioned, key: IDBValidKey) => ({
          value,
          version,
          name: String(key).slice(prefix.length),
        });
        tell(keys.result.map((key, at) => listed(newer(found.result[at], leftOf.get(String(key)))!, key)));
      };
    });
    for (const { remove } of leaving) remove();
    return listed;
  }

  async clockMs(): Promise<null> {
    // All tabs have the clock of this machine.
    return null;
  }

  /** The node to prefer if the database may lack records of others and has no record of this realm. */
  async preferred({ nodes }: Layout): Promise<number | undefined> {
    // The next call rejects with the reason.
    await this.#connected().catch(() => {});
    return this.#isYoung(YOUNG_MS) && !this.#hasWritten ? Math.floor(Math.random() * nodes) : undefined;
  }

  /** The page is left. If it may be kept for the back button, closes the connection; else writes to local storage. */
  go(kept: boolean): void {
    if (!kept) {
      this.#going = true;
      // The page may stay after all.
      setTimeout(() => {
        this.#going = false;
      });
      return;
    }
    this.#forget();
    this.#channel?.close();
    this.#channel = undefined;
  }

  toString(): string {
    return `IndexedDB of ${location.origin}`;
  }

  /** Resolves with the result of `work` when the transaction is on disk. */
  async #transact<T>(
    mode: IDBTransactionMode,
    work: (records: IDBObjectStore, tell: (answer: T) => void) => void,
  ): Promise<T> {
    return this.#transactIn(await this.#connected(), mode, work);
  }

  #transactIn<T>(
    database: IDBDatabase,
    mode: IDBTransactionMode,
    work: (records: IDBObjectStore, tell: (answer: T) => void) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      let answer: T;
      const transaction = this.#begin(database, mode);
      const late = setTimeout(() => {
        try {
          transaction.abort();
        } catch {
          // The transaction has ended, but its event has not arrived yet.
        }
      }, PATIENCE_MS);
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
      // The connection is closing: the next call opens a new one.
      this.#forget();
      throw error;
    }
  }

  #connected(): Promise<IDBDatabase> {
    if (this.#open) return this.#open;
    const open = this.#connect();
    this.#open = open;
    open.catch(() => {
      if (this.#open === open) this.#forget();
    });
    return open;
  }

  #forget(): void {
    this.#database?.close();
    this.#open = this.#database = this.#bornMs = undefined;
    this.#hasWritten = false;
  }

  /** Other tabs no longer see the nodes that are held here. */
  #lose(): void {
    this.#forget();
    this.#cleared();
  }

  async #connect(): Promise<IDBDatabase> {
    this.#channel ??= this.#hear();
    const database = await this.#opened();
    this.#database = database;
    // The user or other code may clear, delete or upgrade the database.
    database.onclose = database.onversionchange = () => {
      database.close();
      if (this.#database === database) this.#lose();
    };
    this.#bornMs = await this.#transactIn<number>(
      database,
      this.#written.size ? "readwrite" : "readonly",
      (records, tell) => {
        for (const [key, record] of this.#written) putBack(records, key, this.#counted(key, record));
        const born = records.get(BORN);
        born.onsuccess = () => tell(born.result);
      },
    );
    if (this.#isYoung(HEARING_MS)) await new Promise((resolve) => setTimeout(resolve, HEARING_MS));
    return database;
  }

  #opened(): Promise<IDBDatabase> {
    return new Promise((resolve, reject) => {
      const request = indexedDB.open("snowmint", 1);
      const late = setTimeout(() => {
        // Nobody would close it, and an open one keeps others from deleting it.
        request.onsuccess = () => request.result.close();
        reject(new Error(`it does not open within ${PATIENCE_MS} ms`));
      }, PATIENCE_MS);
      let bornMs: number | undefined;
      request.onupgradeneeded = () => {
        bornMs = Date.now();
        request.result.createObjectStore(RECORDS).put(bornMs, BORN);
      };
      request.onerror = () => {
        clearTimeout(late);
        reject(request.error);
      };
      request.onsuccess = () => {
        clearTimeout(late);
        if (bornMs !== undefined) this.#channel?.postMessage(bornMs);
        resolve(request.result);
      };
    });
  }

  /**
   * Returns the record to put back under a key. The record of a namespace counts the nodes that this realm puts back, because
   * the other nodes may be gone, and has a new version, because a claim under way may add to the old count.
   */
  #counted(key: string, record: Versioned): Versioned {
    if (!key.startsWith(LAYOUTS)) return record;
    const prefix = `leases/${key.slice(LAYOUTS.length)}/`;
    const nodes = [...this.#written.keys()].filter((each) => each.startsWith(prefix));
    return { value: recounted(record.value, nodes.length), version: firstVersion() };
  }

  /** Hears of new databases. */
  #hear(): BroadcastChannel {
    const channel = new BroadcastChannel("snowmint");
    channel.onmessage = ({ data }) => {
      if (this.#bornMs !== undefined && this.#bornMs !== data) this.#lose();
    };
    return channel;
  }

  /** Returns whether the database was made within the last `ms`. */
  #isYoung(ms: number): boolean {
    return this.#bornMs !== undefined && Math.abs(Date.now() - this.#bornMs) < ms;
  }
}

/** Returns a version for a new record, unlike all of a cleared database: its holders must not take it for theirs. */
const firstVersion = (): number => 1 + Math.floor(Math.random() * 2 ** 40);

/**
 * Leaves a record for other tabs. A page that closes has no time for a transaction (WebKit drops it, Firefox
 * sometimes), but local storage is written at once. Workers have no local storage, so the next page that lists the
 * records moves this record to the database.
 */
async function leave(key: string, { value, version }: Versioned): Promise<null> {
  localStorage.setItem(LEAVING + key, JSON.stringify([version, ...value]));
  return null;
}

/** Returns the records that closed pages have left and no tab has taken over yet. */
function leavings(): { key: string; record: Versioned; remove(): void }[] {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(LEAVING));
    return names.map((name) => {
      const text = localStorage.getItem(name)!;
      const [version, ...value] = JSON.parse(text) as number[];
      const remove = () => {
        if (localStorage.getItem(name) === text) localStorage.removeItem(name);
      };
      return { key: name.slice(LEAVING.length), record: { value: Uint8Array.from(value), version: version! }, remove };
    });
  } catch {
    // A worker, or a page that may not store: then windows run out by themselves.
    return [];
  }
}

/** The record, as the page that held it has left it. */
function newer(record: Kept | undefined, left: Versioned | undefined): Versioned | undefined {
  return record && left?.version === record.version ? left : record;
}

/** Puts a record of a cleared database back, unless a tab has claimed the node since or put back a later record. */
function putBack(records: IDBObjectStore, key: string, { value, version }: Versioned): void {
  const found = records.get(key);
  found.onsuccess = () => {
    const there = found.result as Kept | undefined;
    if (!there || (there.again && there.version < version)) records.put({ value, version, again: true }, key);
  };
}
