import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { bigint, pgTable, text } from "drizzle-orm/pg-core";
import { json } from "snowmint";
import { generator } from "./ids.mjs";

const orders = pgTable("orders", {
  id: bigint({ mode: "bigint" })
    .primaryKey()
    .$defaultFn(() => generator.nextId()),
  item: text().notNull(),
});
const db = drizzle(process.env.DATABASE_URL);

const [order] = await db.insert(orders).values({ item: "drizzle" }).returning();
const [found] = await db.select().from(orders).where(eq(orders.id, order.id));
console.log(json.stringify({ order, found }));

await db.$client.end();
