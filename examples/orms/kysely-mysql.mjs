import { Kysely, MysqlDialect } from "kysely";
import { createPool } from "mysql2";
import { json } from "snowmint";
import { generator } from "./ids.mjs";

// mysql2 reads a large bigint as a number with wrong last digits, unless it has these options. With them it is a string.
const pool = createPool({ uri: process.env.MYSQL_URL, supportBigNumbers: true, bigNumberStrings: true });
const db = new Kysely({ dialect: new MysqlDialect({ pool }) });

const order = { id: generator.nextId(), item: "kysely-mysql" };
await db.insertInto("orders").values(order).execute();
const found = await db.selectFrom("orders").selectAll().where("id", "=", order.id).executeTakeFirstOrThrow();
console.log(json.stringify({ order, found }));

await db.destroy();
