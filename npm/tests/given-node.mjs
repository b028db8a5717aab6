// The story of a node that is named, played with processes: a live holder keeps the node, and no ID repeats over a pause, a
// kill and a clock that is set back.
import assert from "node:assert/strict";
import { join } from "node:path";
import { layouts } from "snowmint";
import { answerOf, fakeClock, folder, idsOf, increasing, until } from "./support.mjs";

/**
 * Plays the story.
 *
 * `start` starts a process that leases and mints, and takes the file of its ledger, options of the lease, and variables. Its
 * first message is `{ node }`, or `{ code, message }` of the refusal; it ends with code 1 when it loses its lease. `pause`
 * stops a process. `ownClock` says whether holders use the clock of their machine, and `locked` whether the node of a
 * stopped holder stays locked.
 */
export async function givenNode(t, start, { pause, ownClock = true, locked = false }) {
  const path = folder(t);
  const ledgers = [];
  const begin = (options = {}, variables = {}) => {
    const ledger = join(path, `${ledgers.length}`);
    ledgers.push(ledger);
    // A holder on a busy machine may wait for seconds.
    const child = start(ledger, { node: 5, windowMs: 3000, maxWaitMs: 20_000, ...options }, variables);
    const mints = async () => {
      const [before] = idsOf(ledger);
      await until(() => idsOf(ledger)[0].length > before.length + 40, "more IDs");
    };
    const end = async () => {
      child.kill("SIGKILL");
      await child.gone;
    };
    return { child, mints, end };
  };
  const assertMints = async ({ child, mints }) => {
    assert.deepEqual(await answerOf(child), { node: 5 });
    await mints();
  };
  const assertRefused = async ({ child }) => {
    const { code, message } = await answerOf(child);
    assert.equal(code, "NODES_EXHAUSTED", message);
    assert.match(message, /node 5 /);
  };

  const first = begin();
  await assertMints(first);
  await assertRefused(begin({ maxWaitMs: 50 }));
  await first.mints();

  pause(first.child);
  const second = begin({ maxWaitMs: locked ? 1500 : 20_000 });
  let last = second;
  if (locked) {
    await assertRefused(second);
    first.child.kill("SIGCONT");
    await first.mints();
    last = first;
  } else {
    await assertMints(second);
    first.child.kill("SIGCONT");
    assert.equal((await first.child.gone).code, 1, "it lost its node");
    await second.mints();
  }
  await last.end();

  const clock = fakeClock(t);
  clock.set(-3600);
  const behind = begin({ maxWaitMs: ownClock ? 1500 : 20_000 }, clock.env);
  await (ownClock ? assertRefused : assertMints)(behind);
  await behind.end();

  const restarted = begin();
  await assertMints(restarted);
  await restarted.end();

  const ids = idsOf(...ledgers).flat();
  increasing(ids);
  for (const id of ids) assert.equal(layouts.SNOWMINT.decode(id).node, 5);
}
