// Mints in Rust, Python, Node and Chromium through kills, false clocks, forks and tabs. Counts the duplicates of
// snowmint, which must be 0, and the duplicates of other packages in the same scenes.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import * as snowmint from "../npm/dist/node.mjs";
import { inChromium } from "./chromium.mjs";
import { decoded } from "./decode.mjs";
import { heading, picture, say, style, table } from "./print.mjs";
import {
  append,
  FAKETIME,
  idsIn,
  mintAndDie,
  mintAndEnd,
  NODE,
  newLedger,
  PYTHON,
  path,
  RUST,
  start,
} from "./processes.mjs";

const began = Date.now();
const { SNOWMINT } = snowmint.layouts;
const nodeOf = (id) => SNOWMINT.decode(id).node;
const timeOf = (id) => SNOWMINT.decode(id).timestamp.toISOString().slice(11, 23);
const read = (name) => readFileSync(path(name), "utf8");
const publicIds = JSON.parse(read("demo/public_ids.json"));

// The other packages, which scripts/demo.sh installs if it can.
const versions = Object.fromEntries(
  read("demo/requirements.txt")
    .trim()
    .split("\n")
    .map((line) => line.split("==")),
);
Object.assign(versions, JSON.parse(read("demo/package.json")).dependencies);
const modules = { "snowflake-id": "python/snowflake", "sonyflake-py": "python/sonyflake" };
const isThere = (name) => existsSync(path(`.cache/demo/${modules[name] ?? `node_modules/${name}`}`));

const rows = [];
const problems = [];
let idsOfMachine = [];

/** Adds a row to the table of duplicates. */
function count(scene, name, ids) {
  const duplicates = ids.length - new Set(ids).size;
  rows.push([scene, name, ids.length.toLocaleString("en"), duplicates.toLocaleString("en")]);
  if (name === "snowmint" && (duplicates || !ids.length))
    problems.push(`${scene}: ${duplicates} of ${ids.length} IDs repeat`);
}

/** Plays a scene with snowmint and, at the same time, with others. Returns the IDs of snowmint, and act's result. */
async function play(scene, others, act) {
  const playWith = async (name) => {
    const ledger = newLedger(`${scene}/${name}`);
    const result = await act(name, ledger);
    return typeof result === "string" ? result : { ids: idsIn(ledger), result };
  };
  const playOther = (name) => (isThere(name) ? playWith(name).catch(() => "failed") : "not installed");
  const [told, ...played] = await Promise.all([playWith("snowmint"), ...others.map(playOther)]);
  const ids = Object.values(told.ids).flat();
  count(scene, "snowmint", ids);
  idsOfMachine = idsOfMachine.concat(ids);
  for (const [at, name] of others.entries()) {
    if (played[at].ids) count(scene, `${name} ${versions[name]}`, Object.values(played[at].ids).flat());
    else rows.push([scene, `${name} ${versions[name]}`, "", played[at]]);
  }
  return told;
}

const tell = (name, ids) => say(`${name.padEnd(8)} node ${nodeOf(ids[0])}, ${ids.length} IDs, the first is ${ids[0]}`);

async function languages() {
  heading(
    "Processes in three languages at the same time",
    "They lease from one directory. Each gets a node of its own, and the node is in the ID.",
  );
  const { ids, result } = await play("processes", ["flake-idgen"], (name, ledger) => {
    const programs = name === "snowmint" ? [RUST, PYTHON, NODE] : [NODE, NODE];
    return mintAndEnd(...programs.map((program) => start([...program, "mint", name, ledger])));
  });
  for (const [at, name] of ["Rust", "Python", "Node"].entries()) tell(name, ids[result[at].pid]);
}

async function restarts() {
  heading(
    "kill -9, and the clock goes back",
    "The end of a window is on the disk before the first ID in it. A restart reads it, whatever its clock shows.",
  );
  const { ids, result } = await play("kill -9, clock back", ["snowflake-id", "flake-idgen"], async (name, ledger) => {
    if (name !== "snowmint" && !FAKETIME) return "needs libfaketime";
    const command = [...(name === "flake-idgen" ? NODE : PYTHON), "mint", name, ledger];
    const killed = await start(command, { node: 5 });
    await mintAndDie(killed);
    const hourBack = await start(command, { backMs: 3_600_000 });
    await mintAndDie(hourBack);
    const backMs = Date.now() - killed.began;
    const [again] = await mintAndEnd(start(command, { backMs, node: 5 }));
    return { killed, hourBack, again, backMs };
  });
  const [killed, hourBack, again] = ["killed", "hourBack", "again"].map((name) => ids[result[name].pid]);
  const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
  const waited = seconds(result.again.readyMs - result.killed.readyMs);
  say(`Node 5 mints from ${timeOf(killed[0])} to ${timeOf(killed.at(-1))} UTC. Then kill -9.`);
  say(`Clock 1 h back: takes node ${nodeOf(hourBack[0])}, which is new, and mints at ${timeOf(hourBack[0])}.`);
  say(`Clock ${seconds(result.backMs)} back, node 5 again: waits ${waited}, and mints from ${timeOf(again[0])}.`);
  say(`${FAKETIME ? "libfaketime" : "The generator's option clock"} sets the clocks.`);
  if (BigInt(again[0]) <= BigInt(killed.at(-1))) problems.push("the restarted process mints below its old IDs");
}

async function forks() {
  heading(
    "A process forks",
    "The generator is made before os.fork(). The child finds the parent's state empty, and leases another node.",
  );
  const { ids, result } = await play("fork", ["snowflake-id", "sonyflake-py"], (name, ledger) =>
    mintAndEnd(start([...PYTHON, "fork", name, ledger])),
  );
  const parent = `${result[0].pid}`;
  tell("parent", ids[parent]);
  tell("child", ids[Object.keys(ids).find((pid) => pid !== parent)]);
}

async function threads() {
  heading(
    "Four worker threads of Node",
    "Each thread loads its own copy of a package. Those of snowmint share a lease and a counter outside JavaScript.",
  );
  const { ids } = await play("worker threads", ["@sapphire/snowflake"], (name, ledger) =>
    mintAndEnd(start([...NODE, "threads", name, ledger])),
  );
  for (const [name, each] of Object.entries(ids)) tell(name, each);
}

async function tabs() {
  heading(
    "Two tabs of Chromium",
    "A tab leases a slot of its browser, which knows nothing of the slots of the machine.",
  );
  const ledger = newLedger("tabs");
  const inTab = await inChromium(async (open) => {
    const [one, other] = [await open(), await open()];
    const mint = async (name, tab) => append(ledger, name, await tab.evaluate(() => globalThis.mint(20_000)));
    await Promise.all([mint("tab 1", one), mint("tab 2", other)]);
    await one.reload();
    await one.waitForFunction(() => "mint" in globalThis);
    await Promise.all([mint("reloaded", one), mint("tab 2", other)]);
    return one.evaluate((publicIds) => globalThis.decoded(publicIds), publicIds);
  });
  const ids = idsIn(ledger);
  for (const name of ["tab 1", "tab 2", "reloaded"]) tell(name, ids[name]);
  count("tabs", "snowmint", Object.values(ids).flat());
  return inTab;
}

function duplicates() {
  heading("Duplicates in the ledgers, to which every process has appended its IDs");
  count("all without tabs", "snowmint", idsOfMachine);
  table(["scene", "package", "IDs", "duplicates"], rows, [2, 3]);
  heading("Why the others repeat");
  say("- Processes and threads: own counters, and by default the same number.", "  ");
  say("- Clock back: the last time was in memory. The same milliseconds come again.", "  ");
  say("- Fork: the child has a copy of the parent's counter and number.", "  ");
}

function publicIdsOf(inTab) {
  const [rust, python] = [RUST, PYTHON].map(([program, ...args]) =>
    JSON.parse(execFileSync(program, [...args, "decode"])),
  );
  const all = [rust, python, decoded(snowmint, publicIds), inTab];
  heading("Public IDs of other systems, decoded in Rust, Python, Node and Chromium");
  const shown = publicIds.map(({ layout, id }, at) => {
    const agree = all.every((each) => each[at] === rust[at]);
    if (!agree) problems.push(`the four decode ${id} differently`);
    return [layout, id, ...rust[at].split(" "), agree ? "agree" : "DIFFER"];
  });
  table(["layout", "id", "time", "node", "seq.", "all 4"], shown, [3, 4]);
}

await languages();
await restarts();
await forks();
await threads();
const inTab = await tabs();
duplicates();
publicIdsOf(inTab);
heading(`The bits of ${idsOfMachine[0]}`, String(SNOWMINT));
picture(SNOWMINT, idsOfMachine[0]);
const seconds = Math.round((Date.now() - began) / 1000);
const verdict = problems.length ? style("red", problems.join("\n")) : style("green", "No ID of snowmint repeats.");
console.log(`\n${verdict} ${seconds} s.`);
process.exitCode = problems.length ? 1 : 0;
