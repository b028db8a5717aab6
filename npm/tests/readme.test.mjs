// The lines that READMEs show first.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { layouts } from "snowmint";
import { exitOf, folder } from "./support.mjs";

for (const readme of ["README.md", "npm/README.md"])
  test(`the first lines of ${readme} mint an ID`, async (t) => {
    const text = readFileSync(new URL(`../../${readme}`, import.meta.url), "utf8");
    const [, lines] = text.match(/```js\n(.*?)```/s);
    const { code, stdout, stderr } = await exitOf(lines, { SNOWMINT_STATE_DIR: folder(t) });
    assert.equal(code, 0, stderr);
    assert.equal(layouts.SNOWMINT.decode(stdout.trim().replace("n", "")).node, 0);
  });
