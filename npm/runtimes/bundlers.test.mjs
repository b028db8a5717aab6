// Pages as bundlers make them, and without one, open in headless Chromium, where leases are loaded when the first is taken;
// and programs that bundlers make for Node.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { build as esbuild } from "esbuild";
import { rollup } from "rollup";
import { createServer, build as vite } from "vite";
import webpack from "webpack";
import { launch, missing, serve } from "../tests/chromium.mjs";
import { assertSeen, BLOCKING, NONBLOCKING } from "./seen.mjs";
import { projectOf, version } from "./tools.mjs";

const pageOf = (script, head = "") =>
  `<!doctype html><title>page</title>${head}<script type="module" src="${script}"></script>`;
const { home, run } = projectOf({
  "program.mjs": `
    import * as snowmint from "snowmint";
    import { look } from "./checks.mjs";
    look(snowmint).then((seen) => console.log(JSON.stringify(seen)));`,
  "page.mjs": `
    import * as snowmint from "snowmint";
    import { look } from "./checks.mjs";
    globalThis.look = () => look(snowmint);`,
  "index.html": pageOf("/page.mjs"),
});
let browser;
before(async () => {
  browser = missing ? undefined : await launch();
});
after(() => browser?.close());

/** Returns the results of the page at a URL, and the scripts that it loaded for its lease. */
async function seen(url) {
  const page = await browser.newPage();
  const [failures, loaded] = [[], []];
  page.on("pageerror", (error) => failures.push(error.message));
  page.on("request", (request) => loaded.push(request.url()));
  await page.goto(url);
  await page.waitForFunction("globalThis.look");
  const before = loaded.length;
  const told = await page.evaluate("look()");
  await page.close();
  assert.deepEqual(failures, []);
  return { told, late: loaded.slice(before) };
}

/** Serves the output of a bundler, and asserts the results of its page, or of a page around a script. */
async function assertBuilt(out, script) {
  const types = { html: "text/html", js: "text/javascript" };
  const files = readdirSync(join(home, out), { recursive: true }).filter((name) => types[name.split(".").pop()]);
  const content = (name) => [types[name.split(".").pop()], readFileSync(join(home, out, name))];
  const built = files.map((name) => [`/${name.replaceAll("\\", "/")}`, content(name)]);
  const server = await serve({ "/": ["text/html", script && pageOf(script)], ...Object.fromEntries(built) });
  try {
    const { told, late } = await seen(`${server.origin}/${script ? "" : "index.html"}`);
    assertSeen(told, NONBLOCKING);
    assert.equal(late.length, 1, `what leases need is one file, loaded on demand: ${late}`);
  } finally {
    server.close();
  }
}

/** Builds with webpack, without an error or a warning. */
async function webpacked(options) {
  // The checks import all of the package.
  const compiler = webpack({ context: home, mode: "production", performance: false, ...options });
  const stats = await new Promise((resolve, reject) => {
    compiler.run((error, stats) => compiler.close(() => (error ? reject(error) : resolve(stats))));
  });
  assert.ok(!stats.hasErrors() && !stats.hasWarnings(), stats.toString({ preset: "errors-warnings" }));
}

/** Asserts what a program for Node sees: it leases by the addon. */
const assertProgram = async (file) => assertSeen(JSON.parse(await run("node", file)), BLOCKING);

const programs = (name, does, body) => test(`${name} ${version(name)} ${does}`, body);
const pages = (name, does, body) => test(`${name} ${version(name)} ${does}`, { skip: missing }, body);

test("Chromium runs the package without a bundler, named by an import map", { skip: missing }, async () => {
  const map = JSON.stringify({ imports: { snowmint: "/browser.mjs" } });
  const html = pageOf("/page.mjs", `<script type="importmap">${map}</script>`);
  const script = (name) => ["text/javascript", readFileSync(join(home, name))];
  const dist = "node_modules/snowmint/dist";
  const files = readdirSync(join(home, dist), { recursive: true }).filter((name) => name.endsWith(".mjs"));
  const server = await serve({
    "/": ["text/html", html],
    "/page.mjs": script("page.mjs"),
    "/checks.mjs": script("checks.mjs"),
    ...Object.fromEntries(files.map((name) => [`/${name}`, script(`${dist}/${name}`)])),
  });
  try {
    const { told, late } = await seen(`${server.origin}/`);
    assertSeen(told, NONBLOCKING);
    // The code of leases, and the code that leases and stores share.
    const names = late.map((url) => url.replace(server.origin, "").replace(/chunk-\w+/, "chunk"));
    assert.deepEqual(names.sort(), [
      "/browser-chunk.mjs",
      "/browser-tabs.mjs",
      "/wasm/lease-glue.mjs",
      "/wasm/lease.mjs",
    ]);
  } finally {
    server.close();
  }
});

pages("vite", "builds a page", async () => {
  await vite({ root: home, configFile: false, logLevel: "error", build: { outDir: "vite" } });
  await assertBuilt("vite");
});

pages("vite", "serves a page in development, with its dependencies bundled beforehand", async () => {
  const server = await createServer({
    root: home,
    configFile: false,
    logLevel: "error",
    server: { host: "127.0.0.1", port: 0, hmr: false },
  });
  try {
    await server.listen();
    const { told, late } = await seen(server.resolvedUrls.local[0]);
    assertSeen(told, NONBLOCKING);
    assert.equal(late.length, 1, `${late}`);
    assert.match(late[0], /\.vite\/deps/);
  } finally {
    await server.close();
  }
});

pages("webpack", "builds a page", async () => {
  await webpacked({ entry: "./page.mjs", target: "web", output: { path: join(home, "webpack"), filename: "page.js" } });
  await assertBuilt("webpack", "/page.js");
});

pages("rollup", "builds a page", async () => {
  const told = [];
  const plugins = [nodeResolve({ browser: true })];
  const bundle = await rollup({
    input: join(home, "page.mjs"),
    plugins,
    onwarn: (warning) => told.push(warning.message),
  });
  await bundle.write({ dir: join(home, "rollup"), format: "es" });
  await bundle.close();
  assert.deepEqual(told, []);
  await assertBuilt("rollup", "/page.js");
});

pages("esbuild", "builds a page, in chunks", async () => {
  const { warnings } = await esbuild({
    absWorkingDir: home,
    entryPoints: ["page.mjs"],
    outdir: "esbuild",
    bundle: true,
    format: "esm",
    splitting: true,
    minify: true,
    logLevel: "silent",
  });
  assert.deepEqual(warnings, []);
  await assertBuilt("esbuild", "/page.js");
});

programs("webpack", "builds a program for Node, which finds the addon", async () => {
  await webpacked({ entry: "./program.mjs", target: "node", output: { path: home, filename: "webpack.cjs" } });
  await assertProgram("webpack.cjs");
});

for (const [format, file] of [
  ["esm", "esbuild.mjs"],
  ["cjs", "esbuild.cjs"],
])
  programs("esbuild", `builds a program for Node, which finds the addon: ${format}`, async () => {
    await esbuild({
      absWorkingDir: home,
      entryPoints: ["program.mjs"],
      outfile: file,
      bundle: true,
      platform: "node",
      format,
      logLevel: "silent",
    });
    await assertProgram(file);
  });
