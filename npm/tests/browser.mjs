// Uses of the package in a page or worker; nothing here needs Node.
import { FILES, runVectors } from "./vectors.mjs";

/** Everything that vector-scenes.mjs wants to know of one realm. */
export async function inRealm(snowmint) {
  const read = async (name) => [name, await (await fetch(`/tests/vectors/${name}.json`)).json()];
  const vectors = runVectors(snowmint, Object.fromEntries(await Promise.all(FILES.map(read))));

  const gen = new snowmint.Snowflake({ node: 5 });
  const { maxAheadMs, maxWaitMs } = gen.status();
  const ids = [];
  while (ids.length < 5000) ids.push(gen.nextId());
  const increasing = ids.every((id, i) => i === 0 || id > ids[i - 1]);
  const parts = gen.layout.decode(ids[0]);
  const skewMs = Math.abs(Date.now() - parts.timestampMs);

  // One tick more than a generator may borrow: it is refused at once, and nextIdAsync waits for it.
  const strict = new snowmint.Snowflake({ layout: "time:41,node:10,sequence:1;epoch=0", node: 5, maxAheadMs: 0 });
  let refused;
  try {
    for (;;) strict.nextId();
  } catch (error) {
    refused = error.code;
  }
  const waited = typeof (await strict.nextIdAsync());
  return { vectors, maxAheadMs, maxWaitMs, increasing, node: parts.node, skewMs, refused, waited };
}
