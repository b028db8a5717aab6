// A cluster of four: each worker leases and mints, and the primary sends the results once the workers have ended.
import cluster from "node:cluster";
import { Snowflake } from "snowmint";

if (cluster.isPrimary) {
  const told = [];
  let ended = 0;
  for (let i = 0; i < 4; i++) {
    cluster.fork().on("message", (minted) => {
      // Each worker holds its node until all have minted.
      if (told.push(minted) === 4) cluster.disconnect();
    });
  }
  cluster.on("exit", () => {
    if (++ended === 4) process.send(told, () => process.exit());
  });
} else {
  const gen = await Snowflake.lease();
  process.send({ node: gen.node, ids: Array.from({ length: 20_000 }, () => String(gen.nextId())) });
}
