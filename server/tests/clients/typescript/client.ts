// Takes numbers by the client that a generator made of the service's document, and prints "well".
import assert from "node:assert/strict";
import { client as guarded } from "./generated/client.gen";
import { createClient, createConfig } from "./generated/client";
import * as service from "./generated";

async function use(baseUrl: string, guardedUrl: string, token: string): Promise<void> {
  const client = createClient(createConfig({ baseUrl }));
  const ids = await service.takeIds({ client, query: { count: 3 }, throwOnError: true });
  assert.equal(new Set(ids.data.ids.map(BigInt)).size, 3);
  const ticket = await service.takeTicket({ client, path: { name: "typescript" }, throwOnError: true });
  assert.deepEqual(ticket.data, { id: "1" });
  const tickets = await service.takeTicket({ client, path: { name: "typescript" }, query: { count: 2 }, throwOnError: true });
  assert.deepEqual(tickets.data, { ids: ["2", "3"] });
  const user = await service.nextOfUser({ client, path: { uid: "70000000" }, throwOnError: true });
  assert.deepEqual(user.data, { id: "1" });
  const wanted = { start: 1, increment: "2" };
  const made = await service.createSequence({ client, path: { name: "typescript" }, body: wanted, throwOnError: true });
  assert.equal(made.data.increment, "2");
  const sequence = await service.nextOfSequence({ client, path: { name: "typescript" }, throwOnError: true });
  assert.deepEqual(sequence.data.ids, ["1"]);
  const nonce = "8f14e45fceea167a5a36dedd4bea2544";
  const place = { client, throwOnError: true } as const;
  const lease = await service.claimNode({ ...place, path: { ns: "typescript" }, body: { nonce } });
  const { node, window } = lease.data;
  const release = { nonce, unused_from_ms: window.start };
  const released = await service.releaseNode({ ...place, path: { ns: "typescript", node }, body: release });
  assert.equal(released.data.node, node);
  const refused = await service.takeSegment({ client, path: { tag: "none" } });
  assert.equal(refused.error?.code, "INVALID_TEXT");
  assert.equal((await service.readyz({ client, throwOnError: true })).data, "ok\n");
  guarded.setConfig({ baseUrl: guardedUrl });
  assert.equal((await service.takeIds()).error?.code, "UNAUTHORIZED");
  guarded.setConfig({ auth: token });
  assert.equal((await service.takeIds({ throwOnError: true })).data.ids.length, 1);
}

const { SNOWMINT_URL = "", GUARDED_URL = "", TOKEN = "" } = process.env;
use(SNOWMINT_URL, GUARDED_URL, TOKEN).then(() => console.log("well"));
