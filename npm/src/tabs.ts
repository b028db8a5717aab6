// Slots of a browser: a node for each tab and worker of an origin. Windows are in IndexedDB, which all of them see; a Web
// Lock tells who is alive, so that a tab that was frozen finds its node again, and nobody waits for one that is gone.

import { isDeviceAndTab, partOf, SharedDevice } from "./device.js";
import { SLOT_MS } from "./generated/tables.js";
import type { Held, Holding } from "./held.js";
import { type Kit, Layout, take } from "./kit.js";
import type { Layout as LayoutOfOurs } from "./layout.js";
import { leaseOver, noSlots } from "./lease.js";
import type { Guard } from "./leased.js";
import { isLessor } from "./lessee.js";
import { OriginStore } from "./origin.js";
import type { Lease, LeaseOptions, Spec } from "./snowflake.js";

/** What is leased by this page, and given back when it goes. */
let holders: Set<Held> | undefined;

function holdersOfPage(): Set<Held> {
  if (holders) return holders;
  const all = new Set<Held>();
  globalThis.addEventListener?.("beforeunload", ({ defaultPrevented }) => {
    // Who is asked whether to leave may take a while.
    if (!defaultPrevented) for (const held of all) held.loosen();
  });
  // A page that is kept for the back button must neither hold a lock nor be within a transaction: others that wait for
  // either would have the browser drop the page.
  globalThis.addEventListener?.("pagehide", ({ persisted }) => {
    slots?.store.go(persisted);
    for (const held of all)
      if (persisted) held.rest();
      else void held.release();
  });
  globalThis.addEventListener?.("pageshow", () => {
    for (const held of all) held.renew();
  });
  return (holders = all);
}

/** Web Locks of the origin. */
class TabGuard implements Guard {
  readonly #store: OriginStore;

  constructor(store: OriginStore) {
    this.#store = store;
  }

  preferred(layout: LayoutOfOurs): Promise<number | undefined> {
    return this.#store.preferred(layout);
  }

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

/** The fields of a node. */
const fieldsOf = (layout: LayoutOfOurs, node: number): Readonly<Record<string, number>> =>
  layout.decode(layout.encode({ timestampMs: layout.epochMs, node })).fields;

/** The tabs of a device whose nodes are vouched for. */
function tabsOf(device: number, { whole, vouched }: Holding): number[] {
  const fields = vouched().map((node) => fieldsOf(whole, node));
  return fields.filter((each) => each.device === device).map(({ tab }) => tab!);
}

let slots: { store: OriginStore; guard: TabGuard } | undefined;

/** What slots are made of. */
function slotsOfOrigin(): { store: OriginStore; guard: TabGuard } {
  if (!globalThis.navigator?.locks)
    throw noSlots("there are no Web Locks here (of pages only those of https and of localhost have them)");
  if (!globalThis.indexedDB) throw noSlots("there is no IndexedDB here");
  if (slots) return slots;
  const store = new OriginStore(() => {
    for (const held of holdersOfPage()) held.claimAnew();
  });
  return (slots = { store, guard: new TabGuard(store) });
}

/**
 * A lease where there is no addon: over the caller's store, or else a slot of this tab or worker; of a layout whose node is
 * a device and a tab, the device over the store and the tab as a slot.
 */
export async function lease(kit: Kit, spec: Spec, options: LeaseOptions): Promise<Lease> {
  take(kit);
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
    const fields = wanted.node === undefined ? undefined : fieldsOf(wanted.whole, wanted.node);
    const node = fields?.device;
    const device = new SharedDevice({ ...wanted, layout, namespaceOf: layout, node, excluded: () => [] }, records);
    const excluded = () => tabsOf(device.node, wanted);
    return { device, layout: part("tab"), node: fields?.tab, store: records, guard, defaultMs: SLOT_MS, excluded };
  };
  return leaseOver(spec, options, { label, holders: holdersOfPage(), divide });
}
