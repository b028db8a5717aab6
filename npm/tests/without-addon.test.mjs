// Everything about generators again, minted by the wasm module.
process.env.SNOWMINT_NO_ADDON = "1";
await import("./generator.test.mjs");
await import("./input.test.mjs");
