// A worker of workerd, which answers with the results of the package.
import * as snowmint from "snowmint";
import { look } from "./checks.mjs";

// In production the clock does not advance within a request, and shows 0 before the first request. Locally it runs on.
const { now } = Date;
let stillMs = 0;
Date.now = () => stillMs;
// As workers often do.
const early = new snowmint.Snowflake({ node: 6 });

export default {
  async fetch() {
    stillMs = now();
    const ids = Array.from({ length: 20_000 }, () => early.nextId());
    Date.now = now;
    const near = Math.abs(stillMs - early.layout.decode(ids[0]).timestampMs) <= 1000;
    return Response.json({ ...(await look(snowmint)), early: { near, different: new Set(ids).size } });
  },
};
