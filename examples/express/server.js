import cluster from "node:cluster";
import express from "express";
import pg from "pg";
import { json, Snowflake } from "snowmint";
import { PgStore } from "snowmint/stores";

// pg reads a bigint column as a string; this line makes it a bigint, as the generator mints it.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });

if (cluster.isPrimary) {
  await pool.query("CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, item text NOT NULL)");
  await pool.end();
  for (let i = 0; i < 3; i++) cluster.fork();
  process.once("SIGTERM", () => cluster.disconnect());
} else {
  // systemd sends SIGTERM to the workers too: they wait for the primary.
  process.on("SIGTERM", () => {});
  const lease = Snowflake.lease({ store: new PgStore(pool), namespace: "orders" });
  // The primary has closed the server of this worker: give the node back.
  process.once("disconnect", async () => {
    await (await lease).close();
    await pool.end();
  });
  const generator = await lease;
  const app = express();
  app.use(express.json());
  app.set("json replacer", json.replacer); // res.json() writes every bigint as a string

  app.post("/orders", async (req, res) => {
    const order = { id: generator.nextId(), item: req.body.item };
    await pool.query("INSERT INTO orders (id, item) VALUES ($1, $2)", [order.id, order.item]);
    res.status(201).json(order);
  });

  app.get("/orders/:id", async (req, res) => {
    const { rows } = await pool.query("SELECT id, item FROM orders WHERE id = $1", [req.params.id]);
    if (rows.length) res.json(rows[0]);
    else res.sendStatus(404);
  });

  app.listen(process.env.PORT ?? 3000, "127.0.0.1");
}
