// Headless Firefox, with the face that Chromium's driver has: contexts, and pages that go, evaluate, reload and close.
import { existsSync } from "node:fs";
import puppeteer from "puppeteer-core";

const executablePath = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
/** Why tests have to be skipped, if they have. */
export const missing = existsSync(executablePath) ? false : `no browser at ${executablePath}: set FIREFOX`;

/** Opens a page again where Firefox, while it closes other pages, loses the new one. */
function patient(context) {
  const newPage = context.newPage.bind(context);
  context.newPage = () =>
    newPage().catch((error) => {
      if (/no such frame/.test(error.message)) return newPage();
      throw error;
    });
  return context;
}

export async function launch() {
  const browser = await puppeteer.launch({ browser: "firefox", executablePath });
  return { newContext: async () => patient(await browser.createBrowserContext()), close: () => browser.close() };
}
