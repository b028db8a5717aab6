// What tests of generators have in common.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { increasing } from "./asserting.mjs";

export { increasing, refusal, until } from "./asserting.mjs";

/** A layout whose tick outlasts every test, as if the system's clock had stopped. */
export const slow = (sequenceBits) => `time:20,node:20,sequence:${sequenceBits};epoch=1735689600000;tick=3600000s`;

let nodes = 0;
/** A node that no other test of this file uses, below 1024. */
export const freshNode = () => nodes++;

const ends = new WeakMap();
/** Has something done at the end of a test, the last first: a process is killed before its folder goes. */
export function atEnd(t, end) {
  const all = ends.get(t) ?? [];
  if (!ends.has(t)) {
    ends.set(t, all);
    t.after(async () => {
      while (all.length) await all.pop()();
    });
  }
  all.push(end);
}

/** A directory that is removed after the test. */
export function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "snowmint-"));
  atEnd(t, () => rmSync(path, { recursive: true, force: true, maxRetries: 9 }));
  return path;
}

/** A directory of slots for this test, its threads and processes. */
export function slots(t) {
  for (const name of ["SNOWMINT_NODE", "SNOWMINT_STORE", "SNOWMINT_NAMESPACE", "KUBERNETES_SERVICE_HOST", "container"])
    delete process.env[name];
  process.env.SNOWMINT_STATE_DIR = folder(t);
  return process.env.SNOWMINT_STATE_DIR;
}

const here = new URL(".", import.meta.url).pathname;

/** A Node process beside the tests, of a script or of a file here. */
function start(script, env, stdio, words = []) {
  const args = script.endsWith(".mjs") ? [script, ...words] : ["--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, {
    cwd: here,
    env: { ...process.env, NODE_OPTIONS: "", ...env },
    serialization: "advanced",
    stdio: ["ignore", "pipe", "pipe", ...stdio],
  });
  child.output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"])
    child[name].setEncoding("utf8").on("data", (text) => (child.output[name] += text));
  child.gone = new Promise((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal, ...child.output })),
  );
  return child;
}

/** What became of a process that ends by itself; one that hangs is killed, on a busy machine not too early. */
export async function exitOf(script, env = {}, limitMs = 300_000) {
  const child = start(script, env, []);
  const late = setTimeout(() => child.kill("SIGKILL"), limitMs);
  const told = await child.gone;
  clearTimeout(late);
  return told;
}

/** A process that goes on until it ends or the test does; its messages arrive as they were. */
export function hold(t, script, env = {}, words = []) {
  const child = start(script, env, ["ipc"], words);
  child.message = new Promise((resolve) => child.once("message", resolve));
  atEnd(t, async () => {
    child.kill("SIGKILL");
    await child.gone;
  });
  return child;
}

/** The first message of a process, which must come. */
export async function answerOf(child) {
  const ended = child.gone.then(({ code, signal, stderr }) =>
    Promise.reject(new Error(`${code ?? signal}: ${stderr}`)),
  );
  return Promise.race([child.message, ended]);
}

/** The path of libfaketime, which sets the clock of one process, if it is installed. */
export const FAKETIME = ["x86_64", "aarch64"]
  .map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((path) => existsSync(path));

/** A clock for processes, which tests set while the processes run, as seconds beside the system's. */
export function fakeClock(t) {
  const file = join(folder(t), "clock");
  const set = (seconds) => {
    // Never half written.
    writeFileSync(`${file}.new`, `${seconds < 0 ? "" : "+"}${seconds}`);
    renameSync(`${file}.new`, file);
  };
  set(0);
  const env = { LD_PRELOAD: FAKETIME, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: "1", DONT_FAKE_MONOTONIC: "1" };
  return { file, set, env };
}

/** Reads ledgers, each of one process, and asserts that the IDs of each increase. Returns a list of IDs for each ledger. */
export function idsOf(...ledgers) {
  return ledgers.map((ledger) => {
    // A process that was killed may have left half a line.
    const ids = existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n").slice(0, -1).map(BigInt) : [];
    increasing(ids);
    return ids;
  });
}

/** Counts the IDs in a directory of ledgers, a process each, of which each must increase. */
export function countLedgers(directory) {
  const ledgers = idsOf(...readdirSync(directory).map((name) => join(directory, name)));
  const ids = ledgers.flat();
  return { total: ids.length, distinct: new Set(ids).size, ledgers: ledgers.length };
}

/** Whether scenes of several processes run over this store. All stores have the same leases, so in CI few of them are enough. */
export const hasProcesses = (kind) => !process.env.QUICK || ["slots", "better-sqlite3", "pg", "http"].includes(kind);
