// Examines what a generator would do here. The sentences are core's; this file fetches the replies of the store.
import { addon, noAddon, type Terms } from "../host/addon.js";
import { type Accepted, isService, open, serviceOf } from "../host/connect.js";
import { type Layout, SnowmintError } from "../index.js";
import type { Store } from "../stores/index.js";
import { refuseLossyPlace } from "../stores/shared/durability.js";
import type { DoctorOptions } from "./arguments.js";
import { type Format, isVouched, Look } from "./render.js";

/** Returns the findings as lines, and whether nothing must be mended. */
export async function examine(options: DoctorOptions, layout: Layout, format: Format): Promise<[string, boolean]> {
  const { env } = process;
  const url = options.store ?? env.SNOWMINT_STORE;
  const namespace = options.namespace ?? env.SNOWMINT_NAMESPACE;
  const given = options.node ?? env.SNOWMINT_NODE;
  // A mistake in the words of the command line ends the command before the first finding.
  if (options.node !== undefined) nodeOf(layout, options.node);
  const vouched = given !== undefined && isVouched(url, namespace);
  if (vouched || url === undefined || url.startsWith("file:")) return native(options, layout, format);
  const look = new Look(layout, format);
  try {
    const node = given === undefined ? undefined : nodeOf(layout, given, options.node === undefined);
    await overStore(look, url, options.store === undefined, namespace, node);
  } catch (error) {
    look.refused(error);
  }
  return look.end();
}

/** Examines slots and vouched nodes by the addon, which has them. */
async function native(options: DoctorOptions, layout: Layout, { json, bold }: Format): Promise<[string, boolean]> {
  const found = addon();
  if (!found) throw noAddon("INVALID_STORE", (addon) => `slots need ${addon}`, "name a store by --store");
  const { env } = process;
  const terms: Terms = {
    layout: String(layout),
    store: options.store,
    namespace: options.namespace,
    node: options.node === undefined ? undefined : nodeOf(layout, options.node),
    environmentNode: env.SNOWMINT_NODE,
    environmentStore: env.SNOWMINT_STORE,
    environmentNamespace: env.SNOWMINT_NAMESPACE,
    stateDir: env.SNOWMINT_STATE_DIR,
    place: found.placeVariables().filter((name) => env[name]),
    maxAheadMs: 0,
    maxWaitMs: 0,
    start: 0,
    exclude: [],
  };
  const examined = await found.examine(terms, json, bold);
  if (typeof examined !== "string") return [examined.text, examined.isWell];
  const [code, , ...sentence] = examined.split(" ");
  throw new SnowmintError(code as "INVALID_NODE", sentence.join(" "));
}

/** Returns the number of a node that is given as text. */
function nodeOf(layout: Layout, text: string, byVariable = false): number {
  try {
    return layout.decode(layout.encode({ timestampMs: layout.epochMs, node: text })).node;
  } catch (error) {
    if (!byVariable || !(error instanceof SnowmintError)) throw error;
    throw new SnowmintError(error.code, `SNOWMINT_NODE is "${text}": ${error.message}`);
  }
}

async function overStore(
  look: Look,
  given: string,
  byVariable: boolean,
  namespace: string | undefined,
  node: number | undefined,
): Promise<void> {
  if (isService(given)) return overService(look, given, byVariable, namespace);
  // A store is looked at also where a claim would refuse it.
  const { store, accepted } = open(given, { allowUnsafe: true });
  await settings(look, store, byVariable, accepted);
  const sentMs = Date.now();
  const storeMs = await store.clockMs();
  look.clock(storeMs, sentMs, Date.now());
  await nodes(look, store, namespace, node, storeMs);
}

async function overService(look: Look, url: string, byVariable: boolean, namespace: string | undefined): Promise<void> {
  const service = serviceOf(url, process.env.SNOWMINT_TOKEN);
  const key = look.namespace(namespace);
  if (key === undefined) return;
  await service.check(key);
  look.store(String(service), byVariable, true);
}

async function settings(look: Look, store: Store, byVariable: boolean, accepted: Accepted): Promise<void> {
  let failed: SnowmintError | undefined;
  const found = await store.settings?.().catch((error) => {
    if (error.code !== "UNSAFE_STORE") throw error;
    failed = error as SnowmintError;
    return undefined;
  });
  look.store(String(store), byVariable, false);
  if (failed) {
    if (accepted.lossy) look.allowed(failed.message);
    else look.refused(failed);
    return;
  }
  look.settings(found, accepted.lossy, accepted.standby);
  const file = found?.values.get("file");
  if (!file) return;
  try {
    refuseLossyPlace(store, file);
    look.place(file);
  } catch (error) {
    if (accepted.lossy) look.allowed((error as Error).message);
    else look.refused(error);
  }
}

async function nodes(
  look: Look,
  store: Store,
  namespace: string | undefined,
  node: number | undefined,
  storeMs: number | null,
): Promise<void> {
  const key = look.namespace(namespace);
  if (key === undefined) return;
  const record = await store.read(`layouts/${key}`);
  const floor = record ? null : await store.read("fence/floor");
  if (!look.nodes(record?.value, floor?.value, node)) return;
  const records = await store.list(`leases/${key}/`);
  const numbered = records.filter(({ name }) => /^(0|[1-9]\d{0,9})$/.test(name) && Number(name) < 2 ** 32);
  const nowMs = Date.now();
  for (const { name, value, version } of numbered.sort((a, b) => Number(a.name) - Number(b.name)))
    look.see(Number(name), value, version, nowMs);
  look.seen(nowMs, storeMs);
}
