import express from "express";
import pg from "pg";

const { DATABASE_URL, PORT = 3000, SNOWMINT_SERVICE = "http://127.0.0.1:8080" } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL });
await pool.query("CREATE TABLE IF NOT EXISTS notes (id bigint PRIMARY KEY, text text NOT NULL)");

const app = express();
app.use(express.static("public"));

// Passes on requests for leases of this namespace, and no others, so that pages do not reach the service itself.
app.use("/ids/v1/namespaces/notes/leases", express.text({ type: "*/*" }), async (request, response) => {
  const { method, body, originalUrl } = request;
  const headers = { "content-type": "application/json" };
  const answer = await fetch(SNOWMINT_SERVICE + originalUrl.slice("/ids".length), { method, headers, body });
  response
    .status(answer.status)
    .type(answer.headers.get("content-type"))
    .send(await answer.text());
});

app.post("/notes", express.json(), async (request, response) => {
  // A note that is sent again has the ID that it had before.
  const insert = "INSERT INTO notes (id, text) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
  for (const { id, text } of request.body) await pool.query(insert, [id, text]);
  response.sendStatus(204);
});

app.listen(PORT, "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}`));
