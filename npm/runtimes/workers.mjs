// Workers in workerd: their bundles, and the server.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { executable, version } from "./tools.mjs";

const [, built] = version("workerd").split(".");
/** The newest compatibility date of this workerd. */
export const NEWEST = built.replace(/(....)(..)(..)/, "$1-$2-$3");

/** Bundles a worker as workerd's command line does. Returns its files; the first one is its entry. */
export async function bundled(home, worker, outdir) {
  await build({
    absWorkingDir: home,
    entryPoints: [worker],
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    loader: { ".wasm": "copy" },
    logLevel: "silent",
  });
  return [worker, ...readdirSync(join(home, outdir)).filter((name) => name !== worker)];
}

/** The text of a worker in a configuration of workerd: modules in a folder, the first of which is its entry. */
export function workerOf(folder, files, date, more = "") {
  const module = (name) => {
    const kind = name.endsWith(".wasm") ? "wasm" : "esModule";
    // The entry has the name of the package.
    return `(name = "${name === "edge.mjs" ? "snowmint" : name}", ${kind} = embed "${join(folder, name)}")`;
  };
  return `(modules = [${files.map(module)}], compatibilityDate = "${date}"${more})`;
}

/**
 * Starts workerd in a folder, with workers by name, of which each has a socket, and with further services. Returns functions:
 * `ask` sends a request to a worker and returns its JSON, `signal` sends a signal to the process, `stop` kills it.
 */
export async function startWorkerd(home, workers, { services = [] } = {}) {
  const names = Object.keys(workers);
  writeFileSync(
    join(home, "workerd.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [
        ${names.map((name) => `(name = "${name}", worker = ${workers[name]}),`).join("\n")}
        ${services.map((service) => `${service},`).join("\n")}
        (name = "internet", network = (allow = ["private"])),
      ],
      sockets = [${names.map((name) => `(name = "${name}", address = "127.0.0.1:0", http = (), service = "${name}")`)}]
    );`,
  );
  const args = ["serve", join(home, "workerd.capnp"), "--control-fd=3", "--experimental"];
  const stdio = ["ignore", "ignore", "pipe", "pipe"];
  const server = spawn(executable("@cloudflare", "bin/workerd"), args, { stdio });
  const ended = once(server, "exit");
  let told = "";
  server.stderr.on("data", (text) => {
    told += text;
  });
  const ports = {};
  let lines = "";
  const listening = new Promise((resolve) => {
    server.stdio[3].on("data", (text) => {
      lines += text;
      for (const line of lines.split("\n").slice(0, -1)) {
        const { event, socket, port } = JSON.parse(line);
        if (event === "listen") ports[socket] = port;
      }
      if (names.every((name) => name in ports)) resolve();
    });
  });
  const failed = ended.then(() => assert.fail(`workerd ended: ${told}`));
  // It ends by `stop` later.
  failed.catch(() => {});
  await Promise.race([listening, failed]);
  return {
    async ask(name, path = "", ms = 20_000) {
      const response = await fetch(`http://127.0.0.1:${ports[name]}/${path}`, { signal: AbortSignal.timeout(ms) });
      const text = await response.text();
      assert.equal(response.status, 200, text + told);
      return JSON.parse(text);
    },
    signal: (name) => server.kill(name),
    async stop() {
      server.kill("SIGKILL");
      await ended;
    },
  };
}
