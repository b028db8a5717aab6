// Uses that the declarations allow and refuse. Checked by the compiler, never run; without the types of any host.
import {
  type Candidate,
  type ErrorCode,
  type Id,
  type IdKind,
  type InspectOptions,
  type Instant,
  type Integer,
  inspect,
  json,
  ksuid,
  Layout,
  type LeaseOptions,
  type LeaseStore,
  layouts,
  Mask,
  type MaskOptions,
  type Mint,
  type NodeId,
  objectId,
  type Parts,
  type PartsInput,
  type PrefixedId,
  prefix,
  type SequenceStart,
  Snowflake,
  type SnowflakeOptions,
  type SnowflakeStatus,
  SnowmintError,
  scatter,
  type TypeId,
  text,
  typeId,
  UuidMask,
  ulid,
  uuid,
  xid,
} from "snowmint";
import {
  Formatted,
  type FormattedOptions,
  type FormattedReading,
  NativeNumbers,
  type NativeNumbersOptions,
  type NumberBlock,
  type NumberRange,
  Segments,
  type SegmentsOptions,
  type Sequence,
  type SequenceOptions,
  Sequences,
  type SequencesOptions,
  sequence,
  type TableTicketsOptions,
  Tickets,
  type TicketsOptions,
  type Users,
  type UsersOptions,
  users,
} from "snowmint/numbers";
import {
  type Dialect,
  decodeSql,
  type FunctionOptions,
  mariadbFunction,
  postgresFunction,
  postgresWideFunction,
  type SqlParts,
  type WideKind,
} from "snowmint/sql";
import {
  type DynamoDbClient,
  DynamoDbStore,
  type DynamoDbStoreOptions,
  EtcdStore,
  type EtcdStoreOptions,
  type Grant,
  HttpStore,
  type HttpStoreOptions,
  type IoredisClient,
  type LeaseTerms,
  type Lessor,
  type Listed,
  MemoryStore,
  type MysqlPool,
  MysqlStore,
  type NodeRedisClient,
  type PgPool,
  PgStore,
  RedisStore,
  type RedisStoreOptions,
  type SqliteDatabase,
  SqliteStore,
  type Store,
  type StoreOptions,
  type Versioned,
} from "snowmint/stores";
import { type DenoKv, DenoKvStore, type DenoKvStoreOptions } from "snowmint/stores/deno";

const is = <T>(_value: T): void => {};
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

const start: SequenceStart = "carry";
const clock = (): number => 0;
const options: SnowflakeOptions = {
  layout: "twitter",
  node: 5,
  maxAheadMs: 0,
  maxWaitMs: 1000,
  sequenceStart: start,
  clock,
};
const gen = new Snowflake(options);
new Snowflake();
new Snowflake({ node: { datacenter: 0, worker: 5n } });
new Snowflake({ layout: layouts.TWITTER, node: "datacenter=0,worker=5" });
is<true>(true satisfies Same<ReturnType<typeof gen.nextId>, bigint>);
is<true>(true satisfies Same<ReturnType<typeof gen.tryNextId>, bigint>);
is<true>(true satisfies Same<ReturnType<typeof gen.nextIdAsync>, Promise<bigint>>);
is<BigUint64Array>(gen.nextIds(1000));
is<BigUint64Array>(gen.fill(new BigUint64Array(10)));
is<Promise<void>>(gen.close());
is<SnowflakeStatus>(gen.status());
is<boolean>(gen.status().closed);
is<string | null>(gen.status().lost ?? gen.status().namespace);
is<string[]>(gen.status().skipped);
is<SequenceStart>(gen.status().sequenceStart);
is<Promise<void>>(gen[Symbol.asyncDispose]());
is<number>(gen.node);
is<Layout>(gen.layout);
is<{ start: number; end: number } | null>(gen.window);
for (const id of gen) is<bigint>(id);

const leaseOptions: LeaseOptions = {
  ...options,
  store: "file:/var/lib/ids",
  namespace: "orders",
  windowMs: 5000,
  exclude: [0, 1n, "2"],
  onLost: (error) => is<SnowmintError>(error),
};
is<Promise<Snowflake>>(Snowflake.lease());
is<Promise<Snowflake>>(Snowflake.lease(leaseOptions));

class Orders extends Snowflake {
  nextOrder(): string {
    return `order-${this.nextId()}`;
  }
}
class Named extends Snowflake {
  constructor(readonly name: string) {
    super({ node: 5 });
  }
}
is<Promise<Orders>>(Orders.lease({ namespace: "orders" }));
is<Promise<Snowflake>>(Snowflake.lease.call(undefined, {}));
const { lease } = Snowflake;
is<Promise<Snowflake>>(lease());
// @ts-expect-error: its constructor does not take options, and so cannot pass them on
Named.lease();
// @ts-expect-error: an option of leases
new Snowflake({ namespace: "orders" });

const layout = Layout.preset("twitter");
is<Layout>(Layout.parse("time:42,worker:10,sequence:12;epoch=0"));
is<string>(String(layout) + layout.toString() + layout.toJSON());
is<string | null>(layout.name);
is<Date | null>(layout.endsAt);
is<Date | null>(layout.signedUntil);
is<number | null>(layout.signedUntilMs);
is<boolean>(layout.jsSafe);
is<number>(gen.nextNumber());
is<string>(gen.nextString() + gen.nextText("base62"));
// @ts-expect-error base61 is not a form
gen.nextText("base61");
is<number | bigint | undefined>(layout.decode(5n).fields.worker);
is<string>(json.stringify({ id: 1n }, 2) + JSON.stringify(1n, json.replacer));
is<number>(layout.bits + layout.epochMs + layout.tickMs + layout.endsAtMs);
is<number>(layout.nodes + layout.idsPerTick + layout.idsPerSecond);
is<number | undefined>(layout.fields.worker);
is<Record<string, Layout>>(layouts.all());
is<Layout>(layouts.SAFE53);

const parts: Parts = layout.decode(1541815603606036480n);
is<Date>(parts.timestamp);
is<bigint>(parts.tick);
is<number>(parts.timestampMs + parts.node + parts.sequence);
is<bigint>(layout.encode(parts));
const input: PartsInput = { timestampMs: 0, node: 1n, sequence: 2 };
is<bigint>(layout.encode(input));
is<[bigint, bigint]>(layout.idRange(new Date(0), 5));

is<string>(text.encode("5", "base62"));
is<bigint>(text.decode("00000000005", "base62"));
const form: text.TextForm = "hex";
is<string>(form);

is<bigint>(scatter.rotateDigits(5n, 0) + scatter.unrotateDigits("5", 0n) + scatter.reverseBits(5));
is<bigint>(scatter.shardHigh(5n, 4) + scatter.unshardHigh(5n, 4));

const mint: Mint = uuid.v7;
is<string>(mint() + uuid.v1() + uuid.v4() + uuid.v6() + ulid() + objectId());
is<true>(true satisfies Same<ReturnType<typeof uuid.v3>, string>);
is<Uint8Array>(uuid.v7(new Uint8Array(16)));
class Bytes extends Uint8Array {}
is<Bytes>(ulid(new Bytes(20), 4));
is<string>(uuid.v3("www.example.com", uuid.DNS) + uuid.v5(new Uint8Array(5), uuid.URL) + uuid.v8(new Uint8Array(16)));
is<string>(uuid.NIL + uuid.MAX + uuid.OID + uuid.X500);
is<Uint8Array>(uuid.toBytes(uuid.fromMysql(uuid.toMysql(uuid.fromBytes(new Uint8Array(16)), { swap: true }))));
is<number | null>(uuid.version("") ?? uuid.timestampMs("") ?? uuid.clockSequence("") ?? uuid.node(""));
is<{ domain: number; id: number } | null>(uuid.local(""));
is<string>(ulid.fromParts(new Date(), 5n) + ulid.fromUuid(ulid.toUuid(ulid.fromBytes(ulid.toBytes("")))));
is<number>(ulid.timestampMs("") + objectId.timestampMs(""));
is<bigint>(ulid.randomness(""));
is<string>(objectId.fromParts(0) + objectId.fromParts(0, 5n, 5) + objectId.fromBytes(objectId.toBytes("")));
// @ts-expect-error bytes go into bytes
uuid.v4(new Uint16Array(8));
// @ts-expect-error version 2 is only read
uuid.v2();
// @ts-expect-error a name has a namespace
uuid.v5("www.example.com");
// @ts-expect-error what is exported does not change
uuid.NIL = "";

const inspectOptions: InspectOptions = { now: new Date() };
const candidates: Candidate[] = inspect("5", inspectOptions);
inspect(5n, { now: 0 });
for (const candidate of candidates) {
  is<string>(candidate.kind + candidate.form + candidate.reason);
  is<boolean>(candidate.plausible);
  is<number | null>(candidate.timestampMs);
  is<Date | null>(candidate.timestamp);
  is<Parts | null>(candidate.parts);
  if (candidate.layout) is<Layout>(Layout.preset(candidate.layout));
  // @ts-expect-error no such kind
  is<boolean>(candidate.kind === "uuid9");
}

const [id, instant, integer, node]: [Id, Instant, Integer, NodeId] = ["5", new Date(), 5n, { worker: 1 }];
is<unknown>([id, instant, integer, node]);

const error: Error = new SnowmintError("EXHAUSTED", "why", 5);
if (error instanceof SnowmintError) {
  is<ErrorCode>(error.code);
  is<number | undefined>(error.retryAfterMs);
  is<number | undefined>(error.byMs);
  // @ts-expect-error no such code
  is<boolean>(error.code === "EXHAUSTEDD");
  // @ts-expect-error the fields of an error are read-only
  error.code = "FORKED";
}

// @ts-expect-error a boolean is not a node
new Snowflake({ node: true });
// @ts-expect-error options have one spelling
new Snowflake({ node: 5, max_ahead_ms: 5 });
// @ts-expect-error no such start
new Snowflake({ node: 5, sequenceStart: "one" });
// @ts-expect-error a clock gives a number
new Snowflake({ node: 5, clock: () => 5n });
// @ts-expect-error a clock gives it at once
new Snowflake({ node: 5, clock: async () => 5 });
// @ts-expect-error IDs are bigints
is<number>(gen.nextId());
// @ts-expect-error only unsigned 64-bit arrays
gen.fill(new BigInt64Array(5));
// @ts-expect-error a count is needed
gen.nextIds();
// @ts-expect-error only leases have a store
new Snowflake({ node: 5, store: "file:/var/lib/ids" });
// @ts-expect-error stores that are objects are not there yet
Snowflake.lease({ store: new Map() });
// @ts-expect-error the window moves by itself
gen.window = null;
// @ts-expect-error the node of a generator stays
gen.node = 6;
// @ts-expect-error a layout comes from preset or parse
new Layout("twitter");
// @ts-expect-error a layout does not change
layout.bits = 5;
// @ts-expect-error no such preset
is<Layout>(layouts.twitter);
// @ts-expect-error parts come as an object
layout.encode(5);
// @ts-expect-error a time is a Date or a number
layout.idRange("2026-01-01", 5n);
// @ts-expect-error no such form
text.encode(5n, "base64");
// @ts-expect-error the shard has a number of bits
scatter.shardHigh(5n);
// @ts-expect-error nothing else can be inspected
inspect(new Date());
// @ts-expect-error the present is a Date or a number
inspect(5n, { now: "2026-01-01" });
// @ts-expect-error texts are strings
text.decode(5n, "hex");

const records: LeaseStore = {
  read: async () => ({ value: new Uint8Array(), version: 1 }),
  write: async (_key, _value, expected) => expected + 1,
  list: async () => [],
  clockMs: async () => null,
};
is<Promise<Snowflake>>(Snowflake.lease({ store: records, namespace: "orders", windowMs: 1000 }));
is<(store: Store) => LeaseStore>((store) => store);
const pool: PgPool & MysqlPool = {
  connect: () => {},
  totalCount: 0,
  idleCount: 0,
  getConnection: () => {},
  query: () => {},
  escapeId: () => {},
};
const redisClient: NodeRedisClient & IoredisClient = { sendCommand: () => {}, isOpen: true, callBuffer: () => {} };
const dynamoDb: DynamoDbClient = {
  getItem: () => {},
  putItem: () => {},
  updateItem: () => {},
  query: () => {},
  describeTable: () => {},
  createTable: () => {},
};
const sqlite: SqliteDatabase = { prepare: () => {}, pragma: () => {}, inTransaction: false };
const storeOptions: StoreOptions = { allowUnsafe: true, timeoutMs: 1000 };
const redisOptions: RedisStoreOptions = { ...storeOptions, prefix: "mine" };
const dynamoDbOptions: DynamoDbStoreOptions = { ...storeOptions, table: "ids", prefix: "mine" };
const stores: Store[] = [
  new DynamoDbStore(dynamoDb, dynamoDbOptions),
  new EtcdStore("etcd://etcd1,etcd2", { timeoutMs: 1000 }),
  new PgStore(pool),
  new MysqlStore(pool, storeOptions),
  new RedisStore(redisClient, redisOptions),
  new SqliteStore(sqlite, storeOptions),
  new MemoryStore(),
];
for (const store of stores) {
  is<Promise<Versioned | null>>(store.read("leases/orders/5"));
  is<Promise<number | null>>(store.write("leases/orders/5", new Uint8Array(1), 0));
  is<Promise<Listed[]>>(store.list("leases/orders/"));
  is<Promise<bigint>>(store.add("counter", 1n, 0n));
  is<Promise<number | null>>(store.clockMs());
}
const httpOptions: HttpStoreOptions = { token: "sesame", timeoutMs: 1000 };
const lessors: Lessor[] = [new HttpStore("https://ids.example", httpOptions), new HttpStore({ href: "https://ids" })];
for (const store of lessors) is<Promise<Snowflake>>(Snowflake.lease({ store, namespace: "orders" }));
is<(lessor: Lessor, terms: LeaseTerms) => Promise<Grant>>((lessor, terms) => lessor.claim("orders", terms));
const kv: DenoKv = { get: () => {}, list: () => {}, atomic: () => {} };
const kvOptions: DenoKvStoreOptions = { prefix: "mine", timeoutMs: 1000 };
is<Store>(new DenoKvStore(kv, kvOptions));
// @ts-expect-error a path is not a database
new DenoKvStore("ids.kv");
// @ts-expect-error a service leases, and has no records
is<LeaseStore>(new HttpStore("https://ids.example"));
// @ts-expect-error no such option
new HttpStore("https://ids.example", { allowUnsafe: true });
// @ts-expect-error a token is a text
new HttpStore("https://ids.example", { token: 5 });
// @ts-expect-error a URL is not a pool
new PgStore("postgres://db");
// @ts-expect-error nor has a single connection what a pool has
new PgStore({ connect: () => {}, query: () => {} });
// @ts-expect-error a table is a text
new DynamoDbStore(dynamoDb, { table: 5 });
// @ts-expect-error no such client
new RedisStore({ get: () => {} });
// @ts-expect-error a counter is a bigint
stores[0]?.add("counter", 1, 0);

// SQL.
const dialect: Dialect = "mariadb_signed";
const sqlParts: SqlParts = decodeSql(layouts.TWITTER, dialect, "orders.id");
const predicate: string = sqlParts.between(new Date(), 5) + sqlParts.fields.worker;
const functionOptions: FunctionOptions = { maxAheadMs: 1, maxWaitMs: 2, sequenceStart: "carry" };
postgresFunction("twitter", "app", predicate, { datacenter: 1, worker: 2n }, functionOptions);
const [sqlTable, , sqlCreate]: string[] = mariadbFunction("twitter", "app", "next_id", 5, functionOptions);
const wideKind: WideKind = "ulid";
postgresWideFunction(wideKind, "app", `${sqlTable}${sqlCreate}`);
// @ts-expect-error No such kind.
postgresWideFunction("uuid4", "app", "next_id");
// @ts-expect-error No such dialect.
decodeSql("twitter", "oracle", "id");
// @ts-expect-error A node is needed.
postgresFunction("twitter", "app", "next_id");

// Prefixed IDs: no other kind, no other value and no bare string.
const userId = prefix.of("user");
const user: PrefixedId<"user"> = userId.encode(5n);
is<bigint>(userId.decode(user));
is<bigint>(prefix.decode("user", user));
is<string>(prefix.decode("order", typeId("order")));
is<bigint>(prefix.decode("user", "user_0000000000005", "id"));
is<bigint | string>(prefix.decode("user", "user_0000000000005"));
is<`user_${string}`>(user);
is<IdKind<PrefixedId<"user">, bigint, Id>>(userId);
const order: TypeId<"order"> = typeId.of("order").next();
const path: string = user;
if (userId.is(path)) is<PrefixedId<"user">>(path);
is<{ prefix: string; uuid: string }>(typeId.parts(order));
// @ts-expect-error another kind
is<PrefixedId<"order">>(user);
// @ts-expect-error a TypeID is of a UUID
is<PrefixedId<"order">>(order);
// @ts-expect-error a string that nothing has checked
is<PrefixedId<"user">>("user_0000000000005");
// @ts-expect-error of the other kind
prefix.decode("order", user) satisfies bigint;

// Masks.
const maskOptions: MaskOptions = { tweak: "orders", digits: 10 };
is<bigint>(new Mask(new Uint8Array(16), maskOptions).encode("5"));
is<string>(new UuidMask("00".repeat(16)).decode(uuid.v4()));
// @ts-expect-error a key is bytes or a text
new Mask(5);
// @ts-expect-error no such option
new Mask("", { radix: 2 });
is<[string, string]>(uuid.v7Range(0, new Date()));
is<string>(uuid.toText(uuid.v7Of(0), "base58"));
// @ts-expect-error no such form
uuid.toText(uuid.NIL, "hex");
is<Uint8Array>(ksuid.payload(ksuid()));
is<number>(xid.counter(xid()));

// An undefined option counts as missing, even if `exactOptionalPropertyTypes` distinguishes the two.
declare const missing: undefined;
new Snowflake({
  layout: missing,
  node: missing,
  maxAheadMs: missing,
  maxWaitMs: missing,
  sequenceStart: missing,
  clock: missing,
});
Snowflake.lease({ store: missing, namespace: missing, windowMs: missing, exclude: missing, onLost: missing });
layout.encode({
  timestampMs: missing,
  timestampUs: missing,
  timestamp: missing,
  tick: missing,
  node: missing,
  sequence: missing,
  random: missing,
  opaque: missing,
  fields: missing,
});
inspect(5n, { now: missing });
is<MaskOptions>({ tweak: missing, digits: missing });
is<StoreOptions>({ allowUnsafe: missing, allowStandby: missing, timeoutMs: missing });
is<RedisStoreOptions>({ prefix: missing });
is<DynamoDbStoreOptions>({ table: missing, prefix: missing });
is<EtcdStoreOptions>({ timeoutMs: missing, fetch: missing });
is<HttpStoreOptions>({ token: missing, timeoutMs: missing, fetch: missing });
is<DenoKvStoreOptions>({ prefix: missing, timeoutMs: missing });
is<LeaseTerms>({ ...({} as LeaseTerms), windowMs: missing, node: missing, lastNode: missing });
is<FunctionOptions>({ maxAheadMs: missing, maxWaitMs: missing, sequenceStart: missing });
is<SegmentsOptions>({ start: missing, step: missing, maxWaitMs: missing });
is<SequencesOptions>({ maxWaitMs: missing });
is<TicketsOptions>({ maxWaitMs: missing });
is<NativeNumbersOptions>({ step: missing, maxWaitMs: missing });
is<TableTicketsOptions>({ stub: missing, increment: missing, offsets: missing, maxWaitMs: missing });
is<UsersOptions>({ size: missing, step: missing, windowMs: missing, maxWaitMs: missing, label: missing });
is<FormattedOptions>({ period: missing, zone: missing, overflow: missing, start: missing, increment: missing });
is<SequenceOptions>({
  start: missing,
  increment: missing,
  min: missing,
  max: missing,
  cache: missing,
  cycle: missing,
  dialect: missing,
  kind: missing,
});

const orders = new Segments(new MemoryStore(), "orders", { start: 5, step: 10n });
is<Promise<bigint>>(orders.next());
is<Promise<NumberBlock>>(orders.nextBlock(12));
is<Promise<BigUint64Array>>(orders.fill(new BigUint64Array(5)));
is<bigint>(orders.tryNext());
is<Promise<bigint>>(orders.close());
const service = new HttpStore("https://ids.example");
new Segments(service, "orders");
new Sequences(service);
new Tickets(service, "photos");
users(service);
// @ts-expect-error: the service has the stores itself
new Tickets([service, service], "photos");
// @ts-expect-error: an object without verbs
new Segments({}, "orders");
const session = new Sequences(new MemoryStore());
is<Promise<boolean>>(session.create("invoices", { dialect: "tidb", increment: -1 }));
is<Promise<bigint>>(session.next("invoices"));
is<Promise<bigint | null>>(session.set("invoices", 5, false));
// @ts-expect-error: no such dialect
session.create("invoices", { dialect: "oracle" });
const invoices: Sequence = session.sequence("invoices");
is<Promise<bigint | null>>(invoices.set(5n, true));
const texts = new Formatted(invoices, "INV-{yyyy}-{000}", { period: "year", start: 5n });
is<Promise<string>>(texts.next());
is<FormattedReading>(texts.parse("INV-2026-042"));
is<string>(texts.format(42, new Date()));
// @ts-expect-error: a sequence is not a name
new Formatted("invoices", "{000}");
// @ts-expect-error: no such period
new Formatted(invoices, "{000}", { period: "week" });
is<Promise<bigint>>(new Tickets([new MemoryStore()], "photos").next());
is<Tickets>(Tickets.ofTables([new MysqlStore(pool)], "Tickets64", { stub: "b", increment: 2n, offsets: [1] }));
// @ts-expect-error: only MySQL has such tables
Tickets.ofTables(new MemoryStore(), "Tickets64");
is<Promise<bigint>>(new NativeNumbers(new MysqlStore(pool), "invoices_id_seq", { step: 20n }).next());
// @ts-expect-error: only databases have sequences
new NativeNumbers(new MemoryStore(), "invoices_id_seq");
is<NumberRange>(sequence.virtual("seq_1_to_5"));
const messages: Users = users(new MemoryStore(), "messages", { size: 10n, windowMs: 1000 });
is<Promise<bigint>>(messages.next(7));
is<Promise<void>>(messages.close());
// @ts-expect-error: no such option
users(new MemoryStore(), "messages", { windowS: 30 });
