// The size of snowmint in a browser bundle: minified and gzipped, wasm included. Fails above the limit.
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const LIMIT = 10_700;
const root = new URL("..", import.meta.url).pathname;
const size = async (contents) => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    conditions: ["browser"],
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
};

const generator = await size('export { Snowflake } from "snowmint"');
const sizes = { Snowflake: generator };
for (const name of ["Layout", "text", "scatter", "inspect"])
  sizes[name] = await size(`export { ${name} } from "snowmint"`);
sizes["*"] = await size('export * from "snowmint"');
console.log("browser bundle, minified and gzipped, wasm included, bytes for each import:", sizes);
if (generator > LIMIT) {
  console.error(`{ Snowflake } has more than ${LIMIT} bytes`);
  process.exit(1);
}
