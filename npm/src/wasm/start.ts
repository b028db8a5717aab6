// Starts the modules of bindings/wasm.

import { type ErrorCode, SnowmintError } from "../errors.js";

/** Compiles and starts a module, once. */
type Init = (source: { module: Uint8Array<ArrayBuffer> | WebAssembly.Module }) => unknown;
/** Tells a module how to make errors, and to write any value as a text. */
type Start = (
  error: (code: ErrorCode, sentence: string, ms: number) => SnowmintError,
  text: (value: unknown) => string,
) => void;

/**
 * Returns a function that returns the functions of a module, and starts the module when it is first called: importing never
 * throws. The source is hexadecimal; in edge runtimes, which do not compile bytes, it is the module itself.
 */
export function startedLater<Functions>(
  functions: Functions,
  init: Init,
  start: Start,
  source: string | WebAssembly.Module,
): () => Functions {
  let isStarted = false;
  return () => {
    if (!isStarted) startModule(init, start, source);
    isStarted = true;
    return functions;
  };
}

function startModule(init: Init, start: Start, source: string | WebAssembly.Module): void {
  try {
    // A page's policy forbids the compilation in some browsers, and the instance in WebKit.
    // Edge runtimes make a module in another realm, where wasm-bindgen does not recognise it.
    init({
      module:
        typeof source === "string" ? bytesOf(source) : Object.setPrototypeOf(source, WebAssembly.Module.prototype),
    });
  } catch (error) {
    throw new SnowmintError(
      "WASM_FORBIDDEN",
      `WebAssembly is forbidden: allow 'wasm-unsafe-eval' in the page's CSP (${error})`,
    );
  }
  start((code, sentence, ms) => new SnowmintError(code, inCamelCase(sentence), ms), String);
}

/** Decodes hexadecimal. Engines of 2024 and before lack `fromHex`; there the loop takes 9 ms longer in Chromium. */
function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  const { fromHex } = Uint8Array as { fromHex?(hex: string): Uint8Array<ArrayBuffer> };
  if (fromHex) return fromHex(hex);
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}

/** A sentence with the names of options as JavaScript has them: `max_wait_ms` is `maxWaitMs`. */
const inCamelCase = (sentence: string): string =>
  sentence.replace(/\b(?:max_wait|max_ahead|window)_ms\b/g, (name) =>
    name.replace(/_./g, ([, letter]) => letter!.toUpperCase()),
  );
