// A server of dynalite, which answers as DynamoDB does, in this process.
import { once } from "node:events";
import dynalite from "dynalite";

let server;
/** Starts the server with the first call, and returns its URL. It ends with the process. */
export async function endpoint() {
  server ??= (async () => {
    const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    server.unref();
    return `http://127.0.0.1:${server.address().port}`;
  })();
  return server;
}
