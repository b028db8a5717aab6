import { SnowmintError } from "../errors.js";
import type { Listed, ServerSettings, Store, Versioned } from "../lease/store.js";
import { Findings, failed } from "./shared/durability.js";
import { within } from "./shared/failure.js";
import { ownerOf, type StoreOptions, settled } from "./shared/options.js";
import { prefixed } from "./shared/place.js";
import { checkAdd, full, MAX_COUNT, newVersion, raised } from "./shared/values.js";

/** A client of `@aws-sdk/client-dynamodb`: its class `DynamoDB`. */
export interface DynamoDbClient {
  /** Reads an item. */
  getItem(...args: never[]): unknown;
  /** Writes an item under a condition. */
  putItem(...args: never[]): unknown;
  /** Raises a counter under a condition. */
  updateItem(...args: never[]): unknown;
  /** Lists the items of a directory. */
  query(...args: never[]): unknown;
  /** Returns the keys and the replicas of a table. */
  describeTable(...args: never[]): unknown;
  /** Makes a table. */
  createTable(...args: never[]): unknown;
}

/** The options of `DynamoDbStore`. */
export interface DynamoDbStoreOptions extends StoreOptions {
  /** The name or ARN of the table; `"snowmint"` if missing. */
  table?: string | undefined;
  /** The prefix of all keys; `"snowmint"` if missing. */
  prefix?: string | undefined;
}

/** How long a new table may take, ms. */
const MAKING_MS = 30_000;
const KEYS = { directory: "HASH", name: "RANGE" };

type Item = Record<string, { S?: string; N?: string; B?: Uint8Array } | undefined>;
type Call = (question: object) => Promise<Answer>;
interface Answer {
  Item?: Item;
  Items?: Item[];
  Attributes?: Item;
  LastEvaluatedKey?: Item;
  Table?: Table;
}
interface Table {
  TableStatus?: string;
  KeySchema?: { AttributeName: string; KeyType: string }[];
  Replicas?: unknown[];
  MultiRegionConsistency?: string;
}
type Client = Record<keyof DynamoDbClient, Call>;
const METHODS = Object.keys({
  getItem: 0,
  putItem: 0,
  updateItem: 0,
  query: 0,
  describeTable: 0,
  createTable: 0,
} satisfies Record<keyof DynamoDbClient, 0>);

/**
 * Records and counters in one table of DynamoDB, over a client `DynamoDB` of `@aws-sdk/client-dynamodb`.
 *
 * The table has the partition key `directory` and the sort key `name`, both strings. A missing table is made when first
 * used, and is paid by request. Writes are conditional, reads are strongly consistent. A global table, whose regions
 * accept writes without each other, is refused with `UNSAFE_STORE`, unless it has multi-Region strong consistency; that is
 * looked at at first and by each claim. The client's user needs `dynamodb:DescribeTable`, `GetItem`, `PutItem`, `UpdateItem`
 * and `Query`, and `CreateTable` for a table that is missing.
 *
 * The store has no clock. `snowmint fence` and `snowmint lease ls` do not reach it: after a table was restored from a backup,
 * use a new namespace with a new layout or epoch.
 *
 * @example
 * const store = new DynamoDbStore(new DynamoDB({ region: "eu-west-1" }), { table: "ids" });
 */
export class DynamoDbStore implements Store {
  readonly #client: Client;
  readonly #table: string;
  readonly #prefix: string;
  readonly #allowUnsafe: boolean;
  readonly #timeoutMs: number;
  readonly #findings: Findings;
  #checked = false;

  /** Over a client, which stays the caller's. */
  constructor(client: DynamoDbClient, options?: DynamoDbStoreOptions) {
    const {
      table = "snowmint",
      prefix = "snowmint",
      allowUnsafe,
      allowStandby,
      timeoutMs,
    } = settled(options, ownerOf("DynamoDbStore", ["table", "prefix"]));
    for (const [name, value] of Object.entries({ table, prefix }))
      if (typeof value !== "string" || !value) throw new TypeError(`${name} is a string that is not empty`);
    const known = Object(client) as Client;
    if (!METHODS.every((method) => typeof known[method as keyof Client] === "function"))
      throw new TypeError(
        'DynamoDbStore needs a client "new DynamoDB(...)" of "@aws-sdk/client-dynamodb", not a DynamoDBClient or anything else',
      );
    this.#client = known;
    this.#table = table;
    this.#prefix = prefix;
    this.#allowUnsafe = allowUnsafe;
    this.#timeoutMs = timeoutMs;
    this.#findings = new Findings("dynamodb", allowStandby);
  }

  /** As `Store.read`. */
  async read(key: string): Promise<Versioned | null> {
    return this.#call(async () => {
      const { Item } = await this.#ask("getItem", { Key: this.#record(key), ConsistentRead: true });
      return Item ? found(key, Item) : null;
    });
  }

  /** As `Store.write`. */
  async write(key: string, value: Uint8Array, expectedVersion: number): Promise<number | null> {
    const version = newVersion();
    return this.#call(async () => {
      try {
        await this.#ask("putItem", {
          // A copy: the caller may write over its bytes before the client sends them again.
          Item: {
            ...this.#record(key),
            version: { N: `${version}` },
            value: { B: value.slice() },
            over: { N: `${expectedVersion}` },
          },
          ExpressionAttributeNames: { "#version": "version" },
          ...(expectedVersion
            ? {
                ConditionExpression: "#version = :expected",
                ExpressionAttributeValues: { ":expected": { N: `${expectedVersion}` } },
              }
            : { ConditionExpression: "attribute_not_exists(#version)" }),
        });
        return version;
      } catch (error) {
        if (nameOf(error) !== "ConditionalCheckFailedException") throw error;
        const { $metadata } = error as { $metadata?: { attempts?: number } };
        if (($metadata?.attempts ?? 1) === 1) return null;
        // The first attempt may have succeeded, which makes the condition of the second fail.
        return await this.#written(key, version, expectedVersion);
      }
    });
  }

  /** As `Store.list`. */
  async list(prefix: string): Promise<Listed[]> {
    return this.#call(async () => {
      const listed: Listed[] = [];
      let from: Item | undefined;
      do {
        const page = await this.#ask("query", {
          ConsistentRead: true,
          KeyConditionExpression: "#directory = :directory",
          ExpressionAttributeNames: { "#directory": "directory" },
          ExpressionAttributeValues: { ":directory": this.#record(prefix).directory },
          ...(from && { ExclusiveStartKey: from }),
        });
        for (const item of page.Items ?? []) listed.push({ name: item.name!.S!, ...found(prefix, item) });
        from = page.LastEvaluatedKey;
      } while (from);
      return listed;
    });
  }

  /** As `Store.add`. */
  async add(counter: string, delta: bigint, start: bigint): Promise<bigint> {
    checkAdd(this, counter, delta, start);
    const canBegin = raised(start, delta) !== undefined;
    const count = await this.#call(async () => {
      try {
        const { Attributes } = await this.#ask("updateItem", {
          Key: { directory: { S: `${this.#prefix}/counters/${counter}` }, name: { S: "counter" } },
          UpdateExpression: "SET #value = if_not_exists(#value, :start) + :delta",
          ConditionExpression: `#value <= :most${canBegin ? " OR attribute_not_exists(#value)" : ""}`,
          ExpressionAttributeNames: { "#value": "value" },
          ExpressionAttributeValues: {
            ":start": { N: `${start}` },
            ":delta": { N: `${delta}` },
            ":most": { N: `${MAX_COUNT - delta}` },
          },
          ReturnValues: "ALL_NEW",
        });
        return BigInt(Attributes!.value!.N!);
      } catch (error) {
        if (nameOf(error) !== "ConditionalCheckFailedException") throw error;
        return null;
      }
    });
    if (count === null) throw full(this, counter);
    return count;
  }

  /** As `Store.clockMs`. */
  async clockMs(): Promise<null> {
    return null;
  }

  /** As `Store.refuseStandby`. */
  async refuseStandby(): Promise<void> {
    // The first call of all looks at the table.
    const wasChecked = this.#checked;
    await this.#call(async () => wasChecked && this.#check());
  }

  /** As `Store.settings`. */
  async settings(): Promise<ServerSettings> {
    return this.#call(async () => ({ engine: "dynamodb", values: settingsOf(await this.#described()) }));
  }

  /** Its name in messages. */
  toString(): string {
    return `DynamoDB table ${this.#table}${prefixed(this.#prefix)}`;
  }

  async #call<T>(work: () => Promise<T>): Promise<T> {
    try {
      if (!this.#checked) await within(Math.max(MAKING_MS, this.#timeoutMs), () => this.#check());
      return await within(this.#timeoutMs, work);
    } catch (error) {
      throw failed(this, "dynamodb", error);
    }
  }

  /** Finds the outcome of a write whose first answer was lost. */
  async #written(key: string, version: number, expected: number): Promise<number | null> {
    const { Item = {} } = await this.#ask("getItem", { Key: this.#record(key), ConsistentRead: true });
    if (Item.version?.N === `${version}`) return version;
    // The present record has replaced the record that this write was meant to replace.
    if (Item.over?.N === `${expected}`) return null;
    throw new Error(`${key} was written again meanwhile, an answer was lost`);
  }

  #ask(method: keyof Client, question: object): Promise<Answer> {
    return this.#client[method]({ TableName: this.#table, ...question });
  }

  #record(key: string): Item {
    const slash = key.lastIndexOf("/");
    return {
      directory: { S: `${this.#prefix}/records/${key.slice(0, Math.max(slash, 0))}` },
      name: { S: key.slice(slash + 1) },
    };
  }

  async #check(): Promise<void> {
    if (this.#allowUnsafe && this.#checked) return;
    const table = await this.#described();
    const { KeySchema = [] } = table;
    const keys = KeySchema.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`);
    if (
      keys.sort().join() !==
      Object.entries(KEYS)
        .map((key) => key.join(" "))
        .join()
    )
      throw new SnowmintError(
        "INVALID_STORE",
        `${this}: the table has the keys ${keys}, but needs the partition key directory and the sort key name, both strings`,
      );
    if (!this.#allowUnsafe) this.#findings.judge(this, settingsOf(table));
    this.#checked = true;
  }

  /** The table, which is made if it is missing. */
  async #described(): Promise<Table> {
    for (;;) {
      try {
        const { Table = {} } = await this.#ask("describeTable", {});
        if (Table.TableStatus !== "CREATING" && Table.TableStatus !== "DELETING") return Table;
        await new Promise((resolve) => setTimeout(resolve, 100));
      } catch (error) {
        if (nameOf(error) === "AccessDeniedException")
          throw new SnowmintError(
            "UNSAFE_STORE",
            `${this}: DescribeTable is refused, and without it nobody knows whether the table is global: allow this user dynamodb:DescribeTable`,
          );
        if (nameOf(error) !== "ResourceNotFoundException") throw error;
        await this.#make();
      }
    }
  }

  async #make(): Promise<void> {
    try {
      await this.#ask("createTable", {
        KeySchema: Object.entries(KEYS).map(([AttributeName, KeyType]) => ({ AttributeName, KeyType })),
        AttributeDefinitions: Object.keys(KEYS).map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
        BillingMode: "PAY_PER_REQUEST",
      });
    } catch (error) {
      // Another process makes it.
      if (nameOf(error) !== "ResourceInUseException") throw error;
    }
  }
}

const nameOf = (error: unknown): unknown => (Object(error) as { name?: unknown }).name;

function found(key: string, { version, value }: Item): Versioned {
  const number = Number(version?.N);
  if (!Number.isSafeInteger(number) || number < 1 || !value?.B)
    throw new Error(`the item of ${key} is not a record of snowmint`);
  return { value: Uint8Array.from(value.B), version: number };
}

/** The settings that core's rules judge. */
function settingsOf({ Replicas = [], MultiRegionConsistency = "" }: Table): Map<string, string> {
  return new Map([
    ["global_table_replicas", `${Replicas.length}`],
    ["multi_region_consistency", MultiRegionConsistency],
  ]);
}
