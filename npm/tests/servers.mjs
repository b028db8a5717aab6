// Real database servers for tests: on a free port of the loopback, with data of their own, killed and started again.
//
//   const server = await startPostgres();
//   await server.kill(); await server.restart(); // a crash, and the recovery on the same data and port
//   server.pause(true); // it hangs
//   await server.stop();
//
// Each runs under a shell that ends with this process, however that ends, and takes the server along.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How long a server may take to start or to end, ms, on a machine with other work to do. */
const START_MS = 90_000;
const STOP_MS = 30_000;

// Puts the server into the background, says its pid, and kills it when its standard input is closed.
const SHELL =
  'log=$1; shift; "$@" > "$log" 2>&1 & echo $!; read _; kill -9 $! 2> /dev/null; wait $! 2> /dev/null; true';
const POSTGRES = "/usr/lib/postgresql/15/bin";
// What stands before a command that refuses root.
const AS_NOBODY = process.geteuid() === 0 ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] : [];
const idOf = (flag, name) => Number(execFileSync("id", [flag, name], { encoding: "utf8" }));

/** A port of the loopback on which nobody listens. Redis as a cluster wants another one 10,000 above it. */
const freePort = () =>
  new Promise((resolve, reject) => {
    const free = createServer().once("error", reject);
    free.listen(0, "127.0.0.1", () => {
      const { port } = free.address();
      free.close(() => resolve(port < 55_536 ? port : freePort()));
    });
  });

/** Runs a command to its end, which is a success. */
const run = ([command, ...words]) =>
  execFileSync(command, words, { cwd: "/", timeout: START_MS, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });

/** Whether a command that asks a server succeeds within five seconds, with that in its answer. */
function succeeds([command, ...words], answer = "") {
  try {
    return execFileSync(command, words, {
      timeout: 5000,
      stdio: ["ignore", "pipe", "ignore"],
      encoding: "utf8",
    }).includes(answer);
  } catch {
    return false;
  }
}

/** Sends a signal to a process, unless that has just ended. */
function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

/** Whether a process is there and has not ended. */
function alive(pid) {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1).startsWith("Z");
  } catch {
    return false;
  }
}

/** A server that runs. The options are further words on its command line, which come last and so win. */
class Server {
  #shell;
  #gone;
  #pid = 0;
  term = "SIGTERM";

  async start(options) {
    this.options = options;
    this.directory = mkdtempSync(join(tmpdir(), "snowmint-server-"));
    this.data = join(this.directory, "data");
    this.port = await freePort();
    try {
      if (AS_NOBODY.length) chownSync(this.directory, idOf("-u", "nobody"), idOf("-g", "nobody"));
      this.prepare();
      await this.restart();
    } catch (error) {
      await this.stop();
      throw error;
    }
    return this;
  }

  /** What it needs each time before its first use. */
  settle() {}

  /** The processes that work for it, itself included, of a server that has several. */
  workers() {
    return [];
  }

  /** What it has said since it was started. */
  get log() {
    return readFileSync(join(this.directory, "server.log"), "utf8");
  }

  /** Starts it on the data and the port that it had; if it runs, ends it cleanly before. */
  async restart() {
    await this.#end();
    const until = performance.now() + START_MS;
    for (;;) {
      const words = ["-c", SHELL, "sh", join(this.directory, "server.log"), ...this.command(), ...this.options];
      // A session of its own, so that Ctrl-C in the terminal is for the tests alone.
      const shell = spawn("sh", words, { stdio: ["pipe", "pipe", "ignore"], detached: true });
      this.#shell = shell;
      this.#gone = new Promise((resolve) => shell.once("close", resolve));
      this.#pid = await new Promise((resolve) => shell.stdout.once("data", (text) => resolve(Number(text))));
      while (alive(this.#pid) && performance.now() < until) {
        if (this.isReady()) return this.settle();
        await sleep(20);
      }
      await this.kill();
      // Another process may have taken the port meanwhile, for a moment.
      assert.ok(performance.now() < until, `${this.constructor.name} does not start: ${this.log}`);
      await sleep(200);
    }
  }

  /** Kills all its processes as a crash of the machine would: by SIGKILL. */
  async kill() {
    if (!this.#shell) return;
    const shell = this.#shell;
    this.#shell = undefined;
    // It is a child of the shell, which does not wait for it yet: the pid is no other's.
    send(this.#pid, "SIGKILL");
    const until = performance.now() + STOP_MS;
    for (let left = this.workers(); left.length; left = this.workers()) {
      assert.ok(performance.now() < until, `processes of ${this.constructor.name} go on: ${left}`);
      for (const worker of left) send(worker, "SIGKILL");
      await sleep(10);
    }
    shell.stdin.end();
    await this.#gone;
  }

  /** Stops all its processes where they are, or lets them go on. */
  pause(paused) {
    for (const pid of [this.#pid, ...this.workers()]) send(pid, paused ? "SIGSTOP" : "SIGCONT");
  }

  /** Ends it cleanly, for good. */
  async stop() {
    await this.#end();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #end() {
    if (!this.#shell) return;
    this.pause(false);
    const until = performance.now() + STOP_MS;
    while (alive(this.#pid) && performance.now() < until) {
      // Redis refuses while it rewrites its file, so it is asked again.
      send(this.#pid, this.term);
      for (let looks = 0; looks < 50 && alive(this.#pid); looks++) await sleep(20);
    }
    await this.kill();
  }
}

/** PostgreSQL 15 of the package `postgresql-15`. */
class Postgres extends Server {
  // Ends open sessions; SIGTERM waits for them.
  term = "SIGINT";

  get url() {
    return `postgresql://postgres@127.0.0.1:${this.port}/postgres`;
  }

  prepare() {
    const words = ["-A", "trust", "-U", "postgres", "--no-sync", "--locale=C", "--encoding=UTF8"];
    run([...AS_NOBODY, join(POSTGRES, "initdb"), "-D", this.data, ...words]);
  }

  command() {
    const settings = ["listen_addresses=127.0.0.1", `unix_socket_directories=${this.directory}`];
    const words = ["-D", this.data, "-p", String(this.port), ...settings.flatMap((each) => ["-c", each])];
    return [...AS_NOBODY, join(POSTGRES, "postgres"), ...words];
  }

  isReady() {
    return succeeds([join(POSTGRES, "pg_isready"), "-q", "-h", "127.0.0.1", "-p", String(this.port)]);
  }

  workers() {
    const worksHere = (pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === this.data;
      } catch {
        return false;
      }
    };
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && worksHere(name))
      .map(Number);
  }
}

/** A standby of another, which it follows without being waited for. */
class Standby extends Postgres {
  constructor(primary) {
    super();
    this.primary = primary;
  }

  prepare() {
    const from = ["-h", "127.0.0.1", "-p", String(this.primary.port), "-U", "postgres"];
    run([...AS_NOBODY, join(POSTGRES, "pg_basebackup"), ...from, "-D", this.data, "-R", "-c", "fast"]);
  }
}

/** MariaDB 10.11 of the package `mariadb-server`, with a database `ids`. */
class Mariadb extends Server {
  get url() {
    return `mysql://root@127.0.0.1:${this.port}/ids`;
  }

  prepare() {
    const words = ["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"];
    // Each server removes the temporary tables that it finds where it puts its own.
    run([...AS_NOBODY, "mariadb-install-db", ...words, `--datadir=${this.data}`, `--tmpdir=${this.directory}`]);
  }

  command() {
    const places = [`--datadir=${this.data}`, `--tmpdir=${this.directory}`, `--socket=${this.directory}/s.sock`];
    const words = [...places, `--pid-file=${this.directory}/p.pid`, "--innodb-buffer-pool-size=16M"];
    return [...AS_NOBODY, "mariadbd", "--no-defaults", "--bind-address=127.0.0.1", `--port=${this.port}`, ...words];
  }

  #asRoot = () => ["--no-defaults", "-uroot", "-h127.0.0.1", "-P", String(this.port)];

  isReady() {
    return succeeds(["mariadb-admin", ...this.#asRoot(), "ping"]);
  }

  settle() {
    run(["mariadb", ...this.#asRoot(), "-e", "CREATE DATABASE IF NOT EXISTS ids"]);
  }
}

/** Redis 7 of the package `redis-server`, which writes every command to disk before it answers. */
class Redis extends Server {
  get url() {
    return `redis://127.0.0.1:${this.port}`;
  }

  prepare() {
    mkdirSync(this.data);
  }

  command() {
    const words = ["--dir", this.data, "--daemonize", "no", "--appendonly", "yes", "--appendfsync", "always"];
    return ["redis-server", "--bind", "127.0.0.1", "--port", String(this.port), ...words, "--save", ""];
  }

  isReady() {
    return succeeds(["redis-cli", "-p", String(this.port), "ping"], "PONG");
  }
}

/** The program of the service: the one that SNOWMINT_SERVER names, or else this workspace's, built when first needed. */
function serviceProgram() {
  if (process.env.SNOWMINT_SERVER) return process.env.SNOWMINT_SERVER;
  const root = new URL("../..", import.meta.url).pathname;
  execFileSync("cargo", ["build", "--quiet", "--locked", "-p", "snowmint-server"], { cwd: root, stdio: "inherit" });
  return resolve(root, process.env.CARGO_TARGET_DIR ?? "target", "debug/snowmint");
}

/** `snowmint serve` over a file of SQLite: HTTP on its port, the Redis protocol on another. */
class Service extends Server {
  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  get redisUrl() {
    return `redis://127.0.0.1:${this.redisPort}`;
  }

  async start(options, env) {
    this.program = serviceProgram();
    this.env = env;
    this.redisPort = await freePort();
    return super.start(options);
  }

  prepare() {
    mkdirSync(this.data);
  }

  command() {
    const places = ["--http", `127.0.0.1:${this.port}`, "--redis", `127.0.0.1:${this.redisPort}`];
    const env = Object.entries(this.env).map((pair) => pair.join("="));
    return ["env", ...env, this.program, "serve", ...places, "--store", `sqlite:${join(this.data, "ids.db")}`];
  }

  isReady() {
    return succeeds(["curl", "--silent", "--fail", `${this.url}/healthz`]);
  }
}

/** PostgreSQL with durable settings, unless `options` say otherwise: `["-c", "fsync=off"]`. */
export const startPostgres = (options = []) => new Postgres().start(options);
/** A standby of a PostgreSQL that runs. */
export const startStandby = (primary) => new Standby(primary).start([]);
/** MariaDB with durable settings, unless `options` say otherwise: `["--innodb-flush-log-at-trx-commit=0"]`. */
export const startMariadb = (options = []) => new Mariadb().start(options);
/** Redis with durable settings, unless `options` say otherwise: `["--appendfsync", "everysec"]`. */
export const startRedis = (options = []) => new Redis().start(options);
/** The service; `options` are further ones of `snowmint serve`: `["--token-file", path]`. */
export const startService = (options = [], env = {}) => new Service().start(options, env);
