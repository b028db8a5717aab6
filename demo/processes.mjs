// The processes that mint, and their ledgers.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** How long processes mint, ms. */
const LIFE_MS = 800;

export const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const home = path(".cache/demo/run");
rmSync(home, { recursive: true, force: true });

export const RUST = [path("target/debug/snowmint-demo")];
export const PYTHON = [path(".venv/bin/python"), "-Wignore", path("demo/demo.py")];
export const NODE = [process.execPath, path("demo/demo.mjs")];

/** libfaketime, which sets the clock of one process, if it is installed. */
export const FAKETIME = ["x86_64", "aarch64"]
  .map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((file) => existsSync(file));

/** Returns the variables of a process. All lease from one directory on the disk. */
function variables({ backMs, node }) {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("SNOWMINT_"));
  const faked = FAKETIME
    ? { LD_PRELOAD: FAKETIME, FAKETIME: `${-backMs / 1000}`, DONT_FAKE_MONOTONIC: "1" }
    : { DEMO_CLOCK_BACK_MS: `${backMs}` };
  return {
    ...Object.fromEntries(kept),
    SNOWMINT_STORE: `file:${home}/slots`,
    ...(node !== undefined && { SNOWMINT_NODE: `${node}` }),
    ...(backMs && faked),
    PYTHONPATH: path(".cache/demo/python"),
  };
}

/** Starts a program, and waits for its first IDs. `backMs` sets its clock back, `node` names the node to lease. */
export async function start(command, options = {}) {
  const began = Date.now();
  const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"], env: variables(options) });
  const ended = once(child, "close");
  const failed = () => Promise.reject(new Error(`${command.join(" ")} failed`));
  await Promise.race([once(child.stdout, "data"), ended.then(failed)]);
  return { child, ended, failed, pid: child.pid, began, readyMs: Date.now() - began };
}

/** Lets a process mint for a while, and kills it by SIGKILL. */
export async function mintAndDie({ child, ended }) {
  await sleep(LIFE_MS);
  child.kill("SIGKILL");
  await ended;
}

/** Lets processes mint at the same time for a while, and ends them. */
export async function mintAndEnd(...starting) {
  const processes = await Promise.all(starting);
  await sleep(LIFE_MS);
  for (const { child } of processes) child.stdin.end();
  for (const { ended, failed } of processes) if ((await ended)[0] !== 0) await failed();
  return processes;
}

/** Makes a ledger: a directory, in which each process appends its IDs to a file. */
export function newLedger(name) {
  mkdirSync(`${home}/ledgers/${name}`, { recursive: true });
  return `${home}/ledgers/${name}`;
}

/** Appends the IDs of a tab, which cannot write files. */
export const append = (ledger, tab, ids) => appendFileSync(`${ledger}/${tab}`, ids.map((id) => `${id}\n`).join(""));

/** Returns the IDs in a ledger, by process. */
export function idsIn(ledger) {
  // A killed process may have written its last line in part.
  const ids = (file) => readFileSync(`${ledger}/${file}`, "utf8").split("\n").slice(0, -1);
  return Object.fromEntries(readdirSync(ledger).map((file) => [file, ids(file)]));
}
