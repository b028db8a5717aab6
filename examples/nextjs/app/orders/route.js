import pg from "pg";
import { Snowflake } from "snowmint";
import { PgStore } from "snowmint/stores";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const store = new PgStore(pool);

// The first request leases, and not the import: `next build` imports this file too.
let lease;
function generator() {
  lease ??= Snowflake.lease({ store, namespace: "orders" }).catch((error) => {
    lease = undefined; // the next request tries again
    throw error;
  });
  return lease;
}

export async function POST(request) {
  const { item } = await request.json();
  const id = (await generator()).nextString(); // a string, because JSON has no 64-bit integers
  await pool.query("INSERT INTO orders (id, item) VALUES ($1, $2)", [id, item]);
  return Response.json({ id, item }, { status: 201 });
}
