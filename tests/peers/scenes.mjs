// Plays scenes in which packages for Node repeat IDs or change them: `scenes.mjs threads|processes|overflow|numbers`.
// scripts/peers.sh installs the packages (package.json) and calls this program. docs/record.md explains each scene.
import cluster from "node:cluster";
import { once } from "node:events";
import { createRequire } from "node:module";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

const require = createRequire(new URL("../../.cache/peers/package.json", import.meta.url));
const version = (name) => require(`./package.json`).dependencies[name];

/** Calls that make a generator, by package. All generators of a package have the same number, as by default. */
const PACKAGES = {
  "@sapphire/snowflake"() {
    const { DiscordSnowflake } = require("@sapphire/snowflake");
    return () => DiscordSnowflake.generate();
  },
  "nodejs-snowflake"() {
    const generator = new (require("nodejs-snowflake").Snowflake)({ instance_id: 5 });
    return () => generator.getUniqueID();
  },
  "flake-idgen"() {
    const generator = new (require("flake-idgen"))({ id: 5 });
    return () => {
      // The package throws where 4,096 IDs of a ms are used up.
      for (;;)
        try {
          return generator.next().readBigUInt64BE();
        } catch {}
    };
  },
};
const TRIALS = 5;
const WORKERS = 4;
const COUNT = 20_000;

const report = (name, scene, result) =>
  console.log(`${`${name} ${version(name)}`.padEnd(28)} ${scene.padEnd(32)} ${result}`);
const repeats = (ids) => ids.length - new Set(ids).size;
const mint = (name, count) => Array.from({ length: count }, PACKAGES[name]());

/** Mints in workers that all start at the same moment, and returns how many IDs repeat. */
async function repeatsOf(workers, say) {
  await Promise.all(workers.map((worker) => once(worker, "message")));
  const answers = workers.map((worker) => once(worker, "message"));
  for (const worker of workers) say(worker);
  return repeats((await Promise.all(answers)).flatMap(([ids]) => ids));
}

async function inThreads(name) {
  const workers = Array.from({ length: WORKERS }, () => new Worker(new URL(import.meta.url), { workerData: name }));
  return repeatsOf(workers, (worker) => worker.postMessage("go"));
}

async function inProcesses(name) {
  cluster.setupPrimary({ args: [name] });
  const workers = Array.from({ length: WORKERS }, () => cluster.fork());
  return repeatsOf(workers, (worker) => worker.send("go"));
}

async function trials(scene, play) {
  for (const name of Object.keys(PACKAGES)) {
    const results = [];
    for (let trial = 0; trial < TRIALS; trial++) results.push((await play(name)).toLocaleString("en"));
    report(name, `${WORKERS} ${scene} x ${COUNT.toLocaleString("en")}`, `${results.join(", ")} repeat`);
  }
}

const SCENES = {
  threads: () => trials("threads", inThreads),
  processes: () => trials("processes", inProcesses),

  overflow() {
    const { DiscordSnowflake, Snowflake } = require("@sapphire/snowflake");
    const many = mint("@sapphire/snowflake", 1_000_000);
    report("@sapphire/snowflake", "one thread, 1,000,000 IDs", `${repeats(many).toLocaleString("en")} repeat`);
    const { workerId } = DiscordSnowflake.deconstruct(DiscordSnowflake.generate({ workerId: 99n }));
    report("@sapphire/snowflake", "worker 99", `the ID has worker ${workerId}`);
    const future = Date.now() + 86_400_000;
    report("@sapphire/snowflake", "an epoch in a day", `ID ${new Snowflake(future).generate()}`);
    const made = () => new (require("nodejs-snowflake").Snowflake)({ custom_epoch: future, instance_id: 5 });
    report("nodejs-snowflake", "an epoch in a day", `ID ${made().getUniqueID()}`);
    const node = (id) => (new (require("flake-idgen"))({ id }).next().readBigUInt64BE() >> 12n) & 1023n;
    report("flake-idgen", "id 1029", `the ID has id ${node(1029)}`);
  },

  numbers() {
    const text = '{"id":1541815603606036481}';
    console.log(`JSON.parse ${text}`.padEnd(61), JSON.parse(text).id);
    try {
      JSON.stringify({ id: 1n });
    } catch (error) {
      console.log("JSON.stringify of a bigint".padEnd(61), String(error));
    }
  },
};

if (!isMainThread) {
  parentPort.postMessage("ready");
  await once(parentPort, "message");
  parentPort.postMessage(mint(workerData, COUNT));
} else if (cluster.isWorker) {
  process.send("ready");
  await once(process, "message");
  process.send(mint(process.argv[2], COUNT).map(String), () => cluster.worker.disconnect());
} else {
  for (const name of process.argv.slice(2)) await SCENES[name]();
}
