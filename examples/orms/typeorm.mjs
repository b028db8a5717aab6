import { json } from "snowmint";
import { DataSource, EntitySchema } from "typeorm";
import { generator } from "./ids.mjs";

const columns = { id: { type: "bigint", primary: true }, item: { type: "text" } };
const Order = new EntitySchema({ name: "Order", tableName: "orders", columns });
const url = process.env.DATABASE_URL;
const type = url.startsWith("mysql:") ? "mysql" : "postgres";
const source = await new DataSource({ type, url, entities: [Order] }).initialize();

const order = { id: generator.nextString(), item: "typeorm" };
await source.getRepository(Order).insert(order);
const found = await source.getRepository(Order).findOneBy({ id: order.id });
console.log(json.stringify({ order, found }));

await source.destroy();
