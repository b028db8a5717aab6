// Bundles a script as a page's bundler does: minified, with the code that is loaded on demand in separate files.
import { build } from "esbuild";

/** Returns the files that a script becomes. `resolveDir` is where its imports are looked up; `more` are options of esbuild. */
export async function bundle(contents, resolveDir, more = {}) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir },
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    logLevel: "error",
    conditions: ["browser"],
    splitting: true,
    outdir: "out",
    ...more,
  });
  return outputFiles;
}
