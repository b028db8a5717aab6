// Real servers for tests. The program `snowmint-engines` starts them; tests/engines/src/main.rs has its protocol.
//
//   const { url } = await shared("postgres", { newDatabase: true }); // the server that all tests of the run share
//   const server = await start("redis", { options: ["--appendonly", "no"] }); // a server of this test
//   await server.kill(); await server.restart(); // a crash, and the recovery on the same data and port
//   await server.pause(); await server.resume(); // it hangs
//   await server.stop(); // for good
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createConnection } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

/** Builds the programs and starts `snowmint-engines`, for a test file that is run by hand. It ends with this process. */
async function startProgram() {
  const root = new URL("../..", import.meta.url).pathname;
  const packages = ["-p", "snowmint-engines", "-p", "snowmint-server"];
  execFileSync("cargo", ["build", "--quiet", "--locked", ...packages], { cwd: root, stdio: "inherit" });
  const programs = resolve(root, process.env.CARGO_TARGET_DIR ?? "target", "debug");
  const env = { SNOWMINT_SERVER: join(programs, "snowmint"), ...process.env };
  // A separate process group: Ctrl-C in the terminal is for the tests alone.
  const child = spawn(join(programs, "snowmint-engines"), { env, stdio: ["pipe", "pipe", "inherit"], detached: true });
  const [line] = await once(child.stdout, "data");
  for (const each of [child, child.stdin, child.stdout]) each.unref();
  return String(line).trim();
}

let program;
/** Connects to the program, and returns the connection and a function that sends a request and returns the answer. */
async function connect() {
  program ??= process.env.SNOWMINT_ENGINES ?? startProgram();
  const socket = createConnection(await program);
  await once(socket, "connect");
  const lines = createInterface({ input: socket });
  const ask = async (request) => {
    const answer = once(lines, "line");
    socket.write(`${JSON.stringify(request)}\n`);
    const { error, ...rest } = JSON.parse((await answer)[0]);
    if (error) throw new Error(`${JSON.stringify(request)}: ${error}`);
    return rest;
  };
  return { socket, ask };
}

/** Returns the URL and the port of the shared server of an engine, or of an empty database on it. */
export async function shared(engine, { newDatabase = false } = {}) {
  const { socket, ask } = await connect();
  try {
    return await ask({ shared: engine, new_database: newDatabase });
  } finally {
    socket.destroy();
  }
}

/** A server of one test, which ends with the connection. */
class Server {
  #socket;
  #ask;

  constructor({ socket, ask }, { url, port, second_port }) {
    this.#socket = socket;
    this.#ask = ask;
    this.url = url;
    this.port = port;
    /** Where the service speaks the protocol of Redis. */
    this.redisUrl = `redis://127.0.0.1:${second_port}`;
  }

  /** Kills all its processes as a crash of the machine does, by SIGKILL. */
  kill = () => this.#ask("kill");
  /** Starts it on its data and port; a server that runs is ended cleanly before. */
  restart = () => this.#ask("restart");
  /** Stops all its processes where they are. */
  pause = () => this.#ask("pause");
  resume = () => this.#ask("resume");

  /** Ends it and removes its data. */
  async stop() {
    const closed = once(this.#socket, "close");
    this.#socket.end();
    await closed;
  }
}

/** Starts a server with durable settings, unless options at the end of its command line say otherwise. */
export async function start(engine, { options = [], env = {}, standbyOf, poolerOf } = {}) {
  const connection = await connect();
  return new Server(
    connection,
    await connection.ask({ start: engine, options, env, standby_of: standbyOf, pooler_of: poolerOf }),
  );
}
