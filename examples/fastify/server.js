import Fastify from "fastify";
import pg from "pg";
import { Snowflake } from "snowmint";
import { PgStore } from "snowmint/stores";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query("CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, item text NOT NULL)");
const generator = await Snowflake.lease({ store: new PgStore(pool), namespace: "orders" });

const fastify = Fastify({ logger: true });
const body = { type: "object", required: ["item"], properties: { item: { type: "string" } } };
// Fastify writes the bigint as a string, because the schema of the response says so.
const order = { type: "object", properties: { id: { type: "string" }, item: { type: "string" } } };

fastify.post("/orders", { schema: { body, response: { 201: order } } }, async (request, reply) => {
  const id = generator.nextId();
  const { item } = request.body;
  await pool.query("INSERT INTO orders (id, item) VALUES ($1, $2)", [id, item]);
  reply.code(201);
  return { id, item };
});

// Runs after the last request: gives the node back, so that the next process can lease it at once.
fastify.addHook("onClose", async () => {
  await generator.close();
  await pool.end();
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => fastify.close());

await fastify.listen({ port: Number(process.env.PORT ?? 3000) });
