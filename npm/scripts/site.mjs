// Builds site/dist/index.html: the inspector, one file with script, style and wasm in it. It runs from any server and
// from a disk, where browsers load no modules; its policy permits its own script and style, by their hashes, and wasm.
// Run in npm/, after build.mjs.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const bundle = async (entry) => {
  const { outputFiles } = await build({
    entryPoints: [`site/${entry}`],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    conditions: ["browser"],
    // The simulated fleet, as base64: a page in one file loads nothing.
    define: { FLEET: JSON.stringify(readFileSync("site/generated/fleet.wasm").toString("base64")) },
    logLevel: "warning",
    write: false,
  });
  return outputFiles[0].text.trim();
};

// In a script element these begin something else, even in a string; there the escape means the same character.
const script = (await bundle("src/page.ts")).replace(/<(?=!--|\/?script)/gi, "\\x3C");
const style = await bundle("style.css");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)} 'wasm-unsafe-eval'`,
  `style-src ${hash(style)}`,
  "img-src data:",
  // Only a page that a service has sent asks the service about itself.
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const kB = (bytes) => `${Math.round(bytes / 1000)} kB`;
const fill = (template, values) => template.replace(/{(\w+)}/g, (place, name) => values[name] ?? place);
const template = readFileSync("site/index.html", "utf8");
const size = kB(template.length + script.length + style.length);
const page = fill(template, { policy, style, script, size });
mkdirSync("site/dist", { recursive: true });
const out = "site/dist/index.html";
// The service has it in its binary, and need not be built anew for the same page.
if (!existsSync(out) || readFileSync(out, "utf8") !== page) writeFileSync(out, page);
const packed = gzipSync(page, { level: 9 }).length;
console.log(`inspector: ${page.length} bytes in one file, ${packed} gzipped`);
