import { defineEntity, MikroORM, p } from "@mikro-orm/postgresql";
import { json } from "snowmint";
import { generator } from "./ids.mjs";

const id = p
  .bigint()
  .primary()
  .onCreate(() => generator.nextId());
const Order = defineEntity({ name: "Order", tableName: "orders", properties: { id, item: p.text() } });
const orm = await MikroORM.init({ clientUrl: process.env.DATABASE_URL, entities: [Order] });

const em = orm.em.fork();
const order = em.create(Order, { item: "mikro-orm" });
await em.flush();
em.clear();
const found = await em.findOneOrFail(Order, order.id);
console.log(json.stringify({ order, found }));

await orm.close();
