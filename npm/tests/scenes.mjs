// Plays the scenes of pages in a browser: one process of it, several scenes at once, each alone in its profile.
import { after, before, describe, test } from "node:test";
import { ENGINES, empty } from "./engines.mjs";
import * as inspector from "./inspector-scenes.mjs";
import * as tabs from "./tab-scenes.mjs";
import * as vectors from "./vector-scenes.mjs";

/**
 * As in the browser of a user: pages are remembered for the back button, and frames of other sites have their own storage, which
 * the driver's list of disabled features would change. Other names lead here too.
 */
const FEATURES = "--disable-features=AvoidUnnecessaryBeforeUnloadCheckSync,HttpsUpgrades,MediaRouter,PaintHolding";
const CHROMIUM = [["--host-resolver-rules=MAP plain.test 127.0.0.1", FEATURES], ["--disable-back-forward-cache"]];

export function playIn(engine, concurrency) {
  const { launch, missing } = ENGINES[engine];
  describe(engine, { skip: missing, concurrency }, () => {
    let browser;
    before(async () => {
      browser = await launch(...(engine === "chromium" ? CHROMIUM : []));
    });
    after(() => browser?.close());
    /** Profiles that no scene uses at the moment. To make one takes as long as a short scene. */
    const free = [];
    for (const { name, engines, play } of [...vectors.scenes, ...inspector.scenes, ...tabs.scenes]) {
      if (!engines.includes(engine)) continue;
      test(name, { timeout: 240_000 }, async (t) => {
        const context = free.pop() ?? (await browser.newContext());
        // A busy machine needs more than the 30 s of Chromium's driver; the others' have their own patience.
        context.setDefaultTimeout?.(120_000);
        await play({ browser, context }, t);
        // Which parts of WebKit's windows are visible depends on the windows in front of them, and hidden pages draw
        // nothing: it has new ones.
        if (engine === "webkit") return context.close();
        await empty(context);
        free.push(context);
      });
    }
  });
}
