// Assertions for tests in every runtime: this file imports nothing else of these tests.
import assert from "node:assert/strict";

export const bytes = (text) => new TextEncoder().encode(text);
export const text = (value) => new TextDecoder().decode(value);
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A namespace that no other test has. */
export const fresh = () => `test-${crypto.randomUUID()}`;

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

/** Waits until a condition holds, or fails after a time in ms. */
export async function until(condition, what, ms = 60_000) {
  for (const since = performance.now(); !(await condition()); await sleep(10))
    if (performance.now() - since > ms) assert.fail(`${what}: not within ${ms} ms`);
}
