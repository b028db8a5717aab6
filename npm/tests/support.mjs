// What tests of generators have in common.
import assert from "node:assert/strict";

/** A layout whose tick outlasts every test, so that the system's clock stands still too. */
export const slow = (sequenceBits) => `time:20,node:20,sequence:${sequenceBits};epoch=1735689600000;tick=3600000s`;

let nodes = 0;
/** A node that no other test of this file uses, below 1024. */
export const freshNode = () => nodes++;

/** The error of a call, which must be a SnowmintError of that code. */
export function refusal(code, call) {
  try {
    call();
  } catch (error) {
    assert.equal(error.name, "SnowmintError", error.stack);
    assert.equal(error.code, code, error.message);
    return error;
  }
  assert.fail(`${code} was not thrown`);
}

/** Asserts that IDs strictly increase. */
export function increasing(ids) {
  for (let i = 1; i < ids.length; i++) if (!(ids[i] > ids[i - 1])) assert.fail(`${ids[i]} comes after ${ids[i - 1]}`);
}

/** How long a call took, and how much of this process's CPU, ms. */
export async function timed(call) {
  const cpu = process.cpuUsage();
  const since = performance.now();
  await call();
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - since, cpuMs: (user + system) / 1000 };
}
