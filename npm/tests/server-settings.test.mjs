// Settings of a server: the answers of real servers, recorded by a test in Rust, are judged as in Rust.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { folder } from "./support.mjs";

const { cases } = JSON.parse(
  readFileSync(new URL("../../tests/vectors/server_settings.json", import.meta.url), "utf8"),
);
const source = fileURLToPath(new URL("../src", import.meta.url));
/** Sentences name options as Rust has them. */
const inJavaScript = (text) =>
  text.replace("allow_unsafe=true", "allowUnsafe: true").replace("allow_standby=true", "allowStandby: true");

/** The part of the stores that judges; the package does not export it. */
async function findings(t) {
  const outfile = join(folder(t), "findings.mjs");
  await build({
    entryPoints: [join(source, "stores/shared/durability.ts")],
    outfile,
    alias: {
      "#files": join(source, "stores/shared/files.node.ts"),
      "#wasm/tools": join(source, "../dist/wasm/tools.mjs"),
      "#wasm/lease": join(source, "../dist/wasm/lease.mjs"),
    },
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "error",
  });
  return (await import(pathToFileURL(outfile).href)).Findings;
}

test("what servers told is judged as in Rust", async (t) => {
  const Findings = await findings(t);
  assert.ok(cases.length >= 30);
  for (const { name, engine, settings, refusal, standby_risk: risk } of cases)
    await t.test(`${engine}: ${name}`, () => {
      const told = new Map(Object.entries(settings));
      const found = new Findings(engine, true);
      if (refusal)
        return assert.throws(() => found.judge("ids", told), {
          code: "UNSAFE_STORE",
          message: `ids: ${inJavaScript(refusal)}`,
        });
      found.judge("ids", told);
      assert.equal(found.risk, risk && `ids: ${inJavaScript(risk)}`);
      if (risk) assert.throws(() => new Findings(engine, false).judge("ids", told), { message: found.risk });
    });
});
