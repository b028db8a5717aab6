import { eq } from "drizzle-orm";
import { bigint, mysqlTable, text } from "drizzle-orm/mysql-core";
import { drizzle } from "drizzle-orm/mysql2";
import { json } from "snowmint";
import { generator } from "./ids.mjs";

const orders = mysqlTable("orders", {
  id: bigint({ mode: "bigint" })
    .primaryKey()
    .$defaultFn(() => generator.nextId()),
  item: text().notNull(),
});
// mysql2 reads a large bigint as a number with wrong last digits, unless it has this option.
const db = drizzle({ connection: { uri: process.env.MYSQL_URL, supportBigNumbers: true } });

const [order] = await db.insert(orders).values({ item: "drizzle-mysql" }).$returningId();
const [found] = await db.select().from(orders).where(eq(orders.id, order.id));
console.log(json.stringify({ order, found }));

await db.$client.end();
