// The error of the first use if WebAssembly cannot start. A page's policy is in vector-scenes.mjs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

const files = ["node.mjs", "node.cjs", "browser.mjs", "browser.cjs"];

/** Runs `before` and then the first use of a file of the package; returns the error that it threw. */
function refused(file, before, ...flags) {
  const script = `const loaded = await import("./node_modules/snowmint/dist/${file}");
    const { Snowflake } = loaded.default ?? loaded;
    ${before}
    try { new Snowflake({ node: 5 }) } catch (error) {
      const { name, code, message, cause } = error;
      console.log(JSON.stringify({ name, code, message, cause: cause.name }));
    }`;
  const stdio = ["ignore", "pipe", "ignore"];
  const program = [...flags, "--input-type=module", "-e", script];
  return JSON.parse(execFileSync(process.execPath, program, { cwd: import.meta.dirname, encoding: "utf8", stdio }));
}

const START = "WebAssembly does not start: ";
const NONE = `${START}ReferenceError: WebAssembly is not defined; start without --jitless or lockdown mode`;

for (const file of files) {
  const error = { name: "SnowmintError", code: "WASM_FORBIDDEN" };

  test(`${file} says that the host has no WebAssembly`, () => {
    const wanted = { ...error, message: NONE, cause: "ReferenceError" };
    assert.deepEqual(refused(file, "delete globalThis.WebAssembly;"), wanted);
    assert.deepEqual(refused(file, "", "--jitless"), wanted);
  });

  test(`${file} says that no memory is left`, () => {
    // A module with one page of memory, in instances until the address space is full.
    const fill = `const bytes = Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 0, 1]);
      const module = new WebAssembly.Module(bytes);
      globalThis.held = [];
      try { for (;;) held.push(new WebAssembly.Instance(module)) } catch {}`;
    const { message, ...told } = refused(file, fill);
    assert.deepEqual(told, { ...error, cause: "RangeError" });
    assert.match(message, /^WebAssembly does not start: RangeError: .*memory.*; free some memory$/i);
  });

  test(`${file} keeps the words of any other failure`, () => {
    const odd = "WebAssembly.Module = function () { throw new TypeError('odd') };";
    assert.deepEqual(refused(file, odd), { ...error, message: `${START}TypeError: odd`, cause: "TypeError" });
  });
}
