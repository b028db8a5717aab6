// The tests that every store passes, run in this runtime. The results can be JSON.
import { leases } from "./leases.mjs";
import { verbs } from "./verbs.mjs";

/** Runs the tests beside each other. Returns the name of each test, and the error if it failed. */
export async function suites(store, options) {
  const running = [];
  const test = (name, body) =>
    running.push(
      body().then(
        () => ({ name }),
        (error) => ({ name, error: error.stack }),
      ),
    );
  verbs(test, async () => [await store(), await store()], options);
  leases(test, async () => ({ store }), options);
  return Promise.all(running);
}
