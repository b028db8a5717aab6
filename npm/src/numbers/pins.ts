// Settings that a store keeps, and that must never change.
import { numbers, type WasmPin } from "../wasm/numbers.js";
import { ask } from "./calls.js";
import type { NumberStore } from "./number-store.js";

/** Returns whether a setting is pinned, and refuses another one. */
export async function isPinned(store: NumberStore, key: string, wanted: WasmPin): Promise<boolean> {
  const found = await store.read(key);
  if (found) explained(store, key, () => wanted.refuseOther(found.value));
  return found !== null;
}

/** Pins a setting of a name. `check` ends a call that was given up. */
export async function pin(
  store: NumberStore,
  key: string,
  name: string,
  wanted: WasmPin,
  check = () => {},
): Promise<void> {
  numbers().refuseName(name, name.normalize("NFC") === name);
  for (;;) {
    check();
    const next = explained(store, key, () => wanted.next());
    if (next.kind === "done") return;
    const failed = await ask(store, key, wanted, next, check);
    if (failed) throw failed;
  }
}

function explained<T>(store: NumberStore, key: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw store.explained(error, key);
  }
}
