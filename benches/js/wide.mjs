// Measures the cost of a UUID, a ULID and an ObjectId, beside peers and beside functions of JavaScript.
import { randomUUID } from "node:crypto";
import { nanoid } from "nanoid";
import { monotonicFactory } from "ulid";
import { ulid as unikuUlid } from "uniku/ulid";
import { uuidv7 as unikuV7 } from "uniku/uuid/v7";
import * as peer from "uuid";
import { Contender, compare } from "./turns.mjs";

/** Ratios are to version 7 of the package `uuid`. */
export function wide({ objectId, ulid, uuid }) {
  const [ours, theirs] = [new Uint8Array(16), new Uint8Array(16)];
  const peerUlid = monotonicFactory();
  // Each call overwrites an array, so the number in its last bytes is kept and checked. These bytes are random or
  // count.
  const last = (bytes) => new DataView(bytes.buffer).getBigUint64(8);
  const none = { order: "none" };
  return compare("Node: a UUID, ULID or ObjectId", [
    new Contender("uuid: v7()", () => peer.v7(), { order: "told" }),
    new Contender("floor: Date.now()", () => Date.now(), { order: "clock" }),
    new Contender("snowmint: uuid.v7()", () => uuid.v7()),
    new Contender("snowmint: uuid.v6()", () => uuid.v6()),
    new Contender("snowmint: uuid.v1()", () => uuid.v1(), none),
    new Contender("snowmint: uuid.v4()", () => uuid.v4(), none),
    new Contender("snowmint: ulid()", () => ulid()),
    new Contender("snowmint: objectId()", () => objectId(), none),
    new Contender("snowmint: uuid.v7(array)", () => last(uuid.v7(ours)), none),
    new Contender("uuid: v7(undefined, array)", () => last(peer.v7(undefined, theirs)), none),
    new Contender("uuid: v4()", () => peer.v4(), none),
    new Contender("uuid: v1()", () => peer.v1(), none),
    new Contender("crypto.randomUUID()", () => randomUUID(), none),
    new Contender("uniku: uuidv7()", () => unikuV7()),
    new Contender("uniku: ulid()", () => unikuUlid()),
    new Contender("ulid, monotonic", () => peerUlid()),
    new Contender("nanoid()", () => nanoid(), none),
  ]);
}
