// The declarations that the package ships.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");

test("the declarations hold without the types of any host, by import and by require, as each kind of resolution reads them", () => {
  const npm = new URL("..", import.meta.url).pathname;
  const kinds = [
    ["-p", "tests"],
    ["-p", "tests", "--module", "node16", "--moduleResolution", "node16"],
    ["-p", "tests/bundler.tsconfig.json"],
  ];
  for (const options of kinds) {
    try {
      execFileSync("node_modules/.bin/tsc", options, { cwd: npm, encoding: "utf8" });
    } catch ({ stdout }) {
      assert.fail(`${options.join(" ")}\n${stdout}`);
    }
  }
});

test("ErrorCode lists the codes that all languages have, in their order, and one of its own", () => {
  const codes = JSON.parse(read("../../tests/vectors/errors.json")).cases.map(({ code }) => code);
  const [, union] = /type ErrorCode =([^;]*);/.exec(read("./node_modules/snowmint/dist/errors.d.cts"));
  assert.deepEqual(union.match(/[A-Z_]+/g), [...codes, "WASM_FORBIDDEN"]);
});
