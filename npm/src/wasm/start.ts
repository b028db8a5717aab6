// Starts the modules of bindings/wasm.

import { type ErrorCode, SnowmintError } from "../errors.js";

/** Compiles and starts a module, once. */
type Init = (source: { module: Uint8Array<ArrayBuffer> | WebAssembly.Module }) => unknown;
/** Tells a module how to make errors. */
type Start = (make: (code: ErrorCode, message: string, ms: number) => SnowmintError) => void;

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

const POLICY = "; allow 'wasm-unsafe-eval' in the page's CSP";
/**
 * The advice for each host error, by its name. A policy forbids the compilation in most browsers; WebKit compiles and refuses the
 * instance, in older versions by an EvalError.
 */
const HINTS: Record<string, string> = {
  CompileError: POLICY,
  EvalError: POLICY,
  RangeError: "; free some memory",
  ReferenceError: "; start without --jitless or lockdown mode",
};

function startModule(init: Init, start: Start, source: string | WebAssembly.Module): void {
  try {
    // Edge runtimes make a module in another realm, where wasm-bindgen does not recognise it.
    init({
      module:
        typeof source === "string" ? bytesOf(source) : Object.setPrototypeOf(source, WebAssembly.Module.prototype),
    });
  } catch (cause) {
    const message = `WebAssembly does not start: ${cause}${HINTS[(cause as Error).name] ?? ""}`;
    throw Object.assign(new SnowmintError("WASM_FORBIDDEN", message), { cause });
  }
  start((code, message, ms) => new SnowmintError(code, inCamelCase(message), ms));
}

/** Decodes hexadecimal. Engines of 2024 and before lack `fromHex`; there the loop takes 9 ms longer in Chromium. */
function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  const { fromHex } = Uint8Array as { fromHex?(hex: string): Uint8Array<ArrayBuffer> };
  if (fromHex) return fromHex(hex);
  return new Uint8Array(hex.length / 2).map((_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
}

/** A message with the names of options as JavaScript has them: `max_wait_ms` is `maxWaitMs`. */
const inCamelCase = (message: string): string =>
  message.replace(/\b(?:(?:max_wait|max_ahead|window)_ms|sequence_start)\b/g, (name) =>
    name.replace(/_./g, ([, letter]) => letter!.toUpperCase()),
  );
