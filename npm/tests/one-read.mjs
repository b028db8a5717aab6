// A process whose connections end so: behind an answer of the server, in the same read, comes an error. KIND and URL say of
// which client and server. Prints the number of answered calls for each position of the error.

import { once } from "node:events";
import net from "node:net";
import { LEASED } from "./clients.mjs";

const { KIND: kind, URL: url } = process.env;

const FATAL = "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";
/** What each server says when it ends a connection that asks nothing. */
const ERRORS = {
  postgres: Buffer.concat([Buffer.from("E"), Buffer.from([0, 0, 0, FATAL.length + 4]), Buffer.from(FATAL)]),
  mysql: Buffer.concat([
    Buffer.from([42, 0, 0, 0, 0xff, 0x26, 0x04]),
    Buffer.from("#08S01the connection was killed by a server"),
  ]),
  redis: Buffer.from("-ERR max number of clients reached\r\n"),
};
ERRORS.mysql[0] = ERRORS.mysql.length - 4;

const { protocol, port } = new URL(url);
const error = ERRORS[protocol.slice(0, -1)];

/** A server in front of that one, which ends the connection with the error behind the answer of that number. */
async function broken(at, isUsed) {
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(port), "127.0.0.1");
    let answers = 0;
    client.on("data", (data) => upstream.write(data));
    upstream.on("data", (data) => {
      if (isUsed()) answers++;
      if (answers < at) client.write(data);
      else if (answers === at) client.end(Buffer.concat([data, error]));
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** A store of which one answer, of that number, has the error behind it; and what ends its client. */
async function storeWith(at) {
  // Before that, a client of redis is the application's affair.
  let used = false;
  const server = await broken(at, () => used);
  const { Store, connect } = LEASED[kind];
  const address = new URL(url);
  address.port = server.address().port;
  const [client, close] = await connect(address.href);
  const store = new Store(client, { timeoutMs: 3000 });
  used = true;
  const end = () => {
    server.close();
    close(client)?.catch?.(() => {});
  };
  return { store, end };
}

/** The results of three calls. */
async function calls({ store, end }, at) {
  const outcomes = [];
  for (let version = 0; version < 3; version++) {
    const writing = store.write(`one-read-${process.pid}/${at}`, new Uint8Array(1), version);
    outcomes.push(
      await writing.then(
        () => "answered",
        ({ code }) => code,
      ),
    );
  }
  // Later errors must do no harm either.
  await new Promise((resolve) => setTimeout(resolve, 100));
  end();
  return outcomes;
}

const stores = [];
for (let at = 1; at <= 16; at++) stores.push(await storeWith(at));
console.log(JSON.stringify(await Promise.all(stores.map(calls))));
process.exit();
