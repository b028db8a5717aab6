// Slots of a browser: a node for each tab and worker of an origin. Windows are stored in IndexedDB, which all tabs
// share. A Web Lock shows that a tab lives, so a frozen tab finds its node again, and no tab waits for the node of a
// closed tab.

import type { LeaseOptions, Spec } from "../generator/options.js";
import { label as labelOf } from "../host/label.browser.js";
import type { Layout } from "../layout/layout.js";
import type { Guard } from "../lease/claim.js";
import { generatorOn, type Make } from "../lease/generator.js";
import type { Holder, HolderTerms } from "../lease/holder.js";
import { type Lease, leaseOver, noSlots } from "../lease/lease.js";
import { nodeField } from "../lease/nodes.js";
import { isLessor } from "../lease/service-claim.js";
import { mint } from "../wasm/mint.js";
import { isDeviceAndTab, partOf, SharedDevice } from "./device.js";
import { OriginStore } from "./indexeddb-store.js";

/** The leases of this page, which it gives back when it closes. */
let holders: Set<Holder> | undefined;

function holdersOfPage(): Set<Holder> {
  if (holders) return holders;
  const all = new Set<Holder>();
  globalThis.addEventListener?.("beforeunload", ({ defaultPrevented }) => {
    // A user who is asked whether to leave may take a while.
    if (!defaultPrevented) for (const held of all) held.loosen();
  });
  // A page that is kept for the back button must neither hold a lock nor be within a transaction: if other tabs wait
  // for either, the browser drops the page.
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

  preferred(layout: Layout): Promise<number | undefined> {
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
      // Grant, it ends that way if another one steals the lock.
      holding.catch((error) => (granted ? lost() : reject(refused(error))));
    });
  }
}

const refused = (error: unknown) => noSlots(`Web Locks are refused (${error})`);
const lockOf = (key: string): string => `snowmint/${key}`;

/** Returns the fields of a node, which are numbers of 32 bits at most. */
const fieldsOf = (layout: Layout, node: number): Readonly<Record<string, number>> =>
  layout.decode(layout.encode({ timestampMs: layout.epochMs, node })).fields as Record<string, number>;

/** Returns the tabs of a device whose nodes are vouched for. */
function tabsOf(device: number, { whole, vouched }: HolderTerms): number[] {
  const fields = vouched().map((node) => fieldsOf(whole, node));
  return fields.filter((each) => each.device === device).map(({ tab }) => tab!);
}

let slots: { store: OriginStore; guard: TabGuard } | undefined;

/** Returns the store and the locks of the origin. */
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
 * Returns whether a page of another origin frames this one, or its frame has no credentials. Browsers keep the storage of such a
 * frame in a partition, where neither the records nor the locks of tabs are seen.
 */
function isInPartition(): boolean {
  const page = globalThis.window as (Window & { credentialless?: boolean }) | undefined;
  if (page?.credentialless) return true;
  try {
    // Reading the origin of a page throws if the page has another origin.
    for (let frame: Window | undefined = page; frame && frame !== frame.parent; frame = frame.parent)
      if (frame.parent.origin !== globalThis.origin) return true;
    return false;
  } catch {
    return true;
  }
}

/** Makes a generator on a lease. */
export const leased = <Generator extends { layout: Layout }>(
  options: LeaseOptions,
  make: Make<Generator>,
): Promise<Generator> => generatorOn(lease, options, make);

/**
 * Leases in a host without the addon: over the caller's store, or else a slot of this tab or worker. If the layout's node is a
 * device and a tab, the store leases the device, and the tab is a slot.
 */
async function lease(spec: Spec, options: LeaseOptions): Promise<Lease> {
  const label = labelOf();
  const { store } = options;
  if (!store) {
    if (isInPartition())
      throw noSlots(
        "the storage of this frame is apart from the storage of tabs, because it is in a page of another origin or has no " +
          "credentials, and a tab could get the same node",
      );
    const { store, guard } = slotsOfOrigin();
    return leaseOver(spec, options, {
      store,
      guard,
      holders: holdersOfPage(),
      label,
      defaultMs: mint().defaults().slotMs,
    });
  }
  // A store of records has no time to write when a page goes.
  if (!isDeviceAndTab(spec.layout))
    return leaseOver(spec, options, { label, holders: isLessor(store) ? holdersOfPage() : undefined });
  const { store: records, guard } = slotsOfOrigin();
  const divide = (terms: HolderTerms): Partial<HolderTerms> => {
    const layout = partOf(spec.layout, "device");
    const given = (field: string) => {
      const value = terms.nodes === undefined ? undefined : nodeField(terms.whole, terms.nodes, field);
      return value === undefined ? undefined : String(value);
    };
    const nodes = given("device");
    const device = new SharedDevice({ ...terms, layout, namespaceOf: layout, nodes, excluded: () => [] }, records);
    const excluded = () => tabsOf(device.node, terms);
    return {
      device,
      layout: partOf(spec.layout, "tab"),
      nodes: given("tab"),
      store: records,
      guard,
      defaultMs: mint().defaults().slotMs,
      excluded,
    };
  };
  return leaseOver(spec, options, { label, holders: holdersOfPage(), divide });
}
