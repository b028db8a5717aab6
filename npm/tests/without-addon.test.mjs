// Everything again, minted by the wasm module alone.
process.env.SNOWMINT_NO_ADDON = "1";
await import("./generator.test.mjs");
await import("./input.test.mjs");
await import("./vectors.test.mjs");
