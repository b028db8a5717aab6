// The size of snowmint in a browser bundle: minified, compressed by brotli and by gzip, wasm included. The code of leases is a
// separate file, which a page loads when it makes its first lease. Fails above the limit.
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { bundle } from "./bundle.mjs";

// The limit of a page that mints.
const LIMIT = 26_499;
const root = new URL("..", import.meta.url).pathname;
const brotli = (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
const gzip = (bytes) => gzipSync(bytes, { level: 9 }).length;

/** Bundles a script. Returns the size of all files that a page loads at first, and of all files for a lease. */
async function sizes(contents, splitting = true) {
  const files = await bundle(contents, root, { splitting });
  const leases = files.filter(({ path }) => path.includes("browser-tabs"));
  const sum = (part, size) => part.reduce((total, { contents }) => total + size(contents), 0);
  const both = (part) => ({ brotli: sum(part, brotli), gzip: sum(part, gzip) });
  return { first: both(files.filter((file) => !leases.includes(file))), leases: both(leases) };
}

const generator = await sizes('export { Snowflake } from "snowmint"');
const rows = {
  "{ Snowflake }": generator.first,
  "leases, on demand": generator.leases,
  "{ Snowflake } and leases in one file": (await sizes('export { Snowflake } from "snowmint"', false)).first,
};
for (const name of ["Layout", "text", "scatter", "inspect", "uuid", "ulid"])
  rows[`{ ${name} }`] = (await sizes(`export { ${name} } from "snowmint"`)).first;
rows["*"] = (await sizes('export * from "snowmint"')).first;
rows["* of snowmint/stores"] = (await sizes('export * from "snowmint/stores"')).first;
console.log("browser bundle, minified, wasm included, bytes:");
console.table(rows);
// The figures of the README.
const readme = readFileSync(`${root}README.md`, "utf8").replace(/\s+/g, " ");
const kb = (name) => Math.round(rows[name].brotli / 1000);
const figures = [
  `A page loads ${kb("{ Snowflake }")} kB`,
  `The first lease loads ${kb("leases, on demand")} kB more`,
  `costs a page ${kb("{ uuid }")} kB`,
];
const wrong = figures.filter((figure) => !readme.includes(figure));
if (wrong.length > 0) {
  console.error(`the README does not say: ${wrong.join("; ")}`);
  process.exit(1);
}
if (generator.first.brotli > LIMIT) {
  console.error(`{ Snowflake } has more than ${LIMIT} bytes by brotli`);
  process.exit(1);
}
