// A thread, a process, or a worker of a cluster that mints IDs of every kind and reports them.
import { isMainThread, parentPort } from "node:worker_threads";
import { objectId, ulid, uuid } from "snowmint";

const mint = { ...uuid, ulid, objectId };
const told = {};
for (const kind of ["v1", "v4", "v6", "v7", "ulid", "objectId"])
  told[kind] = Array.from({ length: 2000 }, () => mint[kind]());
if (isMainThread) process.send(told, () => process.exit());
else parentPort.postMessage(told);
