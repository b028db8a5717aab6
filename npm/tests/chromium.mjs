// Headless Chromium, and a server of pages for it.
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const root = new URL("../..", import.meta.url).pathname;
// Chromium without windows has the same engine and starts pages in a third of the time. `make prove` runs the tests in
// Chromium with windows.
const headless = "/usr/bin/chromium-headless-shell";
const executablePath = process.env.CHROMIUM ?? (existsSync(headless) ? headless : "/usr/bin/chromium");
/** Whether the browser keeps pages for its back button. */
export const keepsPages = executablePath !== headless;
/** Why tests have to be skipped, if they have. */
export const missing = existsSync(executablePath) ? false : `no browser at ${executablePath}: set CHROMIUM`;
// Without a sandbox, since root has none, and without what would call home.
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
args.push("--disable-component-update", "--disable-sync");

/** A browser, with additional arguments and without some arguments of its driver. */
export const launch = (more = [], without = []) =>
  chromium.launch({ executablePath, args: [...args, ...more], ignoreDefaultArgs: without });

const types = { mjs: "text/javascript", json: "application/json" };

/**
 * Serves pages (a type and a text for each path, headers, and a status), the built package, and the vectors; `post`
 * answers posted requests.
 */
export async function serve(pages, policies = {}, post = undefined) {
  const server = createServer(async (request, response) => {
    const { method, url } = request;
    if (method === "POST") {
      const body = Buffer.concat(await request.toArray()).toString();
      return post(url, body).then(
        (answer) => response.end(answer),
        (error) => response.writeHead(500).end(error.message),
      );
    }
    const file = join(root, url);
    const allowed =
      /^\/(npm\/(dist|dist\/wasm|tests)|tests\/vectors)\/[\w.-]+\.(mjs|json)$/.test(url) && existsSync(file);
    const [type, body, headers, status] =
      pages[url] ?? (allowed ? [types[url.split(".").pop()], readFileSync(file)] : []);
    const policy = policies[url] && { "content-security-policy": policies[url] };
    // For modules in sandboxed frames, which have a separate origin.
    const always = { "content-type": type ?? "text/plain", "access-control-allow-origin": "*" };
    response.writeHead(status ?? (type ? 200 : 404), { ...always, ...policy, ...headers });
    response.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  return { origin: `http://127.0.0.1:${port}`, port, close: () => server.close() };
}
