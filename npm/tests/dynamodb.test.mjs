// What only a store in DynamoDB has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Snowflake } from "snowmint";
import { DynamoDbStore } from "snowmint/stores";
import { dynamoDb } from "./clients.mjs";
import { endpoint } from "./dynamo.mjs";
import { atEnd, bytes, text } from "./stores.mjs";

let numbers = 0;
/** The name of a table or namespace that no other test has. */
const fresh = () => `test-${process.pid}-${numbers++}`;

/** A client whose answers a test changes: `change` gets the method, and a function that asks the server. */
async function changed(t, change = (_, ask) => ask()) {
  const [client, close] = await dynamoDb(await endpoint());
  atEnd(t, () => close(client));
  const methods = ["getItem", "putItem", "updateItem", "query", "describeTable", "createTable"];
  return Object.fromEntries(
    methods.map((method) => [method, (question) => change(method, () => client[method](question))]),
  );
}

/** A client of a table that is global. */
const global = (t, more) =>
  changed(t, async (method, ask) => {
    const answer = await ask();
    return method === "describeTable" ? { ...answer, Table: { ...answer.Table, ...more() } } : answer;
  });

test("a missing table is made once, and is paid by request", async (t) => {
  const table = fresh();
  const made = [];
  const client = await changed(t, (method, ask) => {
    if (method === "createTable") made.push(method);
    return ask();
  });
  const stores = [0, 1].map(() => new DynamoDbStore(client, { table }));
  const written = await Promise.all(stores.map((store, at) => store.write(`a/${at}`, bytes("x"), 0)));
  assert.ok(written.every(Number.isSafeInteger) && made.length >= 1, `${written}`);
  const [plain, close] = await dynamoDb(await endpoint());
  atEnd(t, () => close(plain));
  const { Table } = await plain.describeTable({ TableName: table });
  assert.equal(Table.BillingModeSummary.BillingMode, "PAY_PER_REQUEST");
});

test("a table with other keys is refused", async (t) => {
  const TableName = fresh();
  const [client, close] = await dynamoDb(await endpoint());
  atEnd(t, () => close(client));
  await client.createTable({
    TableName,
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
    BillingMode: "PAY_PER_REQUEST",
  });
  await assert.rejects(new DynamoDbStore(client, { table: TableName }).read("a/b"), {
    code: "INVALID_STORE",
    message: /has the keys id HASH, but needs the partition key directory/,
  });
});

test("a global table is refused, unless it is strongly consistent", async (t) => {
  const replicas = [{ RegionName: "us-east-1" }];
  for (const more of [{ Replicas: replicas }, { Replicas: replicas, MultiRegionConsistency: "EVENTUAL" }]) {
    const client = await global(t, () => more);
    const table = fresh();
    await assert.rejects(Snowflake.lease({ store: new DynamoDbStore(client, { table }), namespace: fresh() }), {
      code: "UNSAFE_STORE",
      message: /global_table_replicas=1, two regions can write.*multi-Region strong consistency, or pass allowUnsafe/,
    });
    const store = new DynamoDbStore(client, { table, allowUnsafe: true });
    const gen = await Snowflake.lease({ store, namespace: fresh() });
    assert.ok(gen.nextId() > 0n);
    await gen.close();
  }
  const client = await global(t, () => ({ Replicas: replicas, MultiRegionConsistency: "STRONG" }));
  const gen = await Snowflake.lease({ store: new DynamoDbStore(client, { table: fresh() }), namespace: fresh() });
  assert.ok(gen.nextId() > 0n);
  await gen.close();
});

test("a table that becomes global grants no further node", async (t) => {
  let more = {};
  const store = new DynamoDbStore(await global(t, () => more), { table: fresh() });
  const gen = await Snowflake.lease({ store, namespace: fresh() });
  more = { Replicas: [{ RegionName: "us-east-1" }] };
  await assert.rejects(Snowflake.lease({ store, namespace: fresh() }), { code: "UNSAFE_STORE" });
  await gen.close();
});

test("a write whose answer was lost is no conflict", async (t) => {
  // The client sends again what the server has done: its own error for that.
  const client = await changed(t, async (method, ask) => {
    const answer = await ask();
    if (method !== "putItem") return answer;
    return ask().catch((error) => {
      error.$metadata.attempts = 2;
      throw error;
    });
  });
  const store = new DynamoDbStore(client, { table: fresh() });
  assert.ok(await store.write("a/b", bytes("mine"), 0));
  assert.equal(text((await store.read("a/b")).value), "mine");
  assert.equal(await store.write("a/b", bytes("other"), 3), null);
});

test("a write that another one has followed is unclear", async (t) => {
  const table = fresh();
  const [plain, close] = await dynamoDb(await endpoint());
  atEnd(t, () => close(plain));
  const other = new DynamoDbStore(plain, { table });
  const client = await changed(t, async (method, ask) => {
    const answer = await ask();
    if (method !== "putItem") return answer;
    // Between the write and its repetition another writer reads it.
    assert.ok(await other.write("a/b", bytes("next"), (await other.read("a/b")).version));
    return ask().catch((error) => {
      error.$metadata.attempts = 2;
      throw error;
    });
  });
  await assert.rejects(new DynamoDbStore(client, { table }).write("a/b", bytes("mine"), 0), {
    code: "STORE_UNAVAILABLE",
    message: /a\/b was written again meanwhile/,
  });
});

test("a user who may not see the table is refused", async (t) => {
  const client = await changed(t, (method, ask) => {
    if (method === "describeTable") throw Object.assign(new Error("no"), { name: "AccessDeniedException" });
    return ask();
  });
  await assert.rejects(new DynamoDbStore(client).read("a/b"), {
    code: "UNSAFE_STORE",
    message: /allow this user dynamodb:DescribeTable/,
  });
});

test("what is no client of a table is refused, with what would be one", async () => {
  const { DynamoDBClient } = await import("@aws-sdk/client-dynamodb");
  for (const wrong of [null, "ids", {}, new DynamoDBClient({ region: "eu-west-1" })])
    assert.throws(() => new DynamoDbStore(wrong), { name: "TypeError", message: /new DynamoDB\(\.\.\.\)/ });
  const client = Object.fromEntries(
    ["getItem", "putItem", "updateItem", "query", "describeTable", "createTable"].map((name) => [name, () => {}]),
  );
  assert.throws(() => new DynamoDbStore(client, { table: "" }), /table is a string/);
  assert.throws(() => new DynamoDbStore(client, { tables: "a" }), /tables/);
});
