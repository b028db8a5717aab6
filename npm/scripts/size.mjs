// The size of snowmint in a browser bundle: minified and gzipped, wasm included. Fails above the limit.
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const LIMIT = 12_000;
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
const all = await size('export * from "snowmint"');
console.log(
  `browser bundle, minified and gzipped, wasm included: ${generator} bytes for { Snowflake }, ${all} bytes for everything`,
);
if (all >= LIMIT) {
  console.error(`that is not below ${LIMIT} bytes`);
  process.exit(1);
}
