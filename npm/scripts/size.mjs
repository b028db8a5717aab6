// The size of snowmint in a browser bundle: minified and compressed by brotli, wasm included. Leases are a part of their own,
// which is loaded when the first is taken. Fails above the limit.
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "esbuild";

const LIMIT = 11_000;
const compressed = (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
const root = new URL("..", import.meta.url).pathname;
const size = async (contents) => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    conditions: ["browser"],
    splitting: true,
    outdir: "out",
  });
  const bytes = outputFiles.map(({ path, contents }) => [path, compressed(contents).length]);
  const onDemand = bytes.filter(([path]) => path.includes("browser-tabs")).map(([, length]) => length);
  return { first: bytes.reduce((sum, [, length]) => sum + length, 0) - (onDemand[0] ?? 0), leases: onDemand[0] };
};

const { first: generator, leases } = await size('export { Snowflake } from "snowmint"');
const sizes = { Snowflake: generator, "leases, on demand": leases };
sizes["stores: *"] = (await size('export * from "snowmint/stores"')).first;
for (const name of ["Layout", "text", "scatter", "inspect", "uuid", "ulid", "*"]) {
  const names = name === "*" ? name : `{ ${name} }`;
  sizes[name] = (await size(`export ${names} from "snowmint"`)).first;
}
console.log("browser bundle, minified and compressed by brotli, wasm included, bytes for each import:", sizes);
if (generator > LIMIT) {
  console.error(`{ Snowflake } has more than ${LIMIT} bytes`);
  process.exit(1);
}
