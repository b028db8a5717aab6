import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { json } from "snowmint";
import { generator } from "./ids.mjs";

// Without this line pg reads a bigint column as a string.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const db = new Kysely({ dialect: new PostgresDialect({ pool }) });

const values = { id: generator.nextId(), item: "kysely" };
const order = await db.insertInto("orders").values(values).returningAll().executeTakeFirstOrThrow();
const found = await db.selectFrom("orders").selectAll().where("id", "=", order.id).executeTakeFirstOrThrow();
console.log(json.stringify({ order, found }));

await db.destroy();
