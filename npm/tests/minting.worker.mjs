// A thread that mints: with `count`, IDs by two handles on one node, of the package imported and required; otherwise it
// reports how the package works here.
import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import * as imported from "snowmint";

const required = createRequire(import.meta.url)("snowmint");
const { options, count } = workerData;

function outcome(call) {
  try {
    return call();
  } catch ({ code, message }) {
    return { code, message };
  }
}

if (count) {
  const [one, other] = [imported, required].map(({ Snowflake }) => new Snowflake(options));
  const ids = new BigUint64Array(count);
  for (let i = 0; i < count; ) {
    ids[i++] = one.nextId();
    ids[i++] = other.nextId();
    // Arrays too, of which each thread has its own.
    const batch = ids.subarray(i, i + 8);
    (i % 20 ? one : other).fill(batch);
    i += batch.length;
  }
  parentPort.postMessage(ids, [ids.buffer]);
} else {
  const vouched = outcome(() => typeof new imported.Snowflake(options).nextId());
  const clock = () => 1_772_323_200_000;
  const scripted = outcome(() => typeof new imported.Snowflake({ ...options, clock }).nextId());
  const decoded = outcome(() => imported.layouts.DISCORD.decode(175928847299117063n).node);
  parentPort.postMessage({ vouched, scripted, decoded });
}
