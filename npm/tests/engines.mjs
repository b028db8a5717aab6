// The three engines of browsers: the tests of a page run in each. Their differences are in separate files.
import { setTimeout as sleep } from "node:timers/promises";
import * as chromium from "./chromium.mjs";
import * as firefox from "./firefox.mjs";
import * as webkit from "./webkit.mjs";

export const ENGINES = { chromium, firefox, webkit };
export const ALL = Object.keys(ENGINES);
/** The browsers that keep pages for their back button. */
export const KEEPING_PAGES = ALL.filter((engine) => ENGINES[engine].keepsPages ?? true);

/** Closes the pages of a profile, for the next scene. */
export async function empty(context) {
  for (const page of await context.pages()) await page.close();
}

/** Waits until an expression holds in a page, which may be on its way from another one. */
export async function until(page, expression, ms = 60_000) {
  for (const since = performance.now(); ; await sleep(20)) {
    let seen;
    try {
      if (await page.evaluate(expression)) return page;
    } catch (error) {
      seen = error;
    }
    if (performance.now() - since > ms) throw new Error(`${expression}: not within ${ms} ms`, { cause: seen });
  }
}

/** Goes back, as the button does. A page from the cache loads nothing, so no event follows. */
export async function goBack(page, expression) {
  await page.evaluate("void setTimeout(() => history.back())").catch(() => {});
  await until(page, expression);
}
