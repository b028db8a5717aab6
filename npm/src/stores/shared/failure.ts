// Turns failures of stores into errors of snowmint.
import { type ErrorCode, SnowmintError } from "../../errors.js";
import { lease } from "../../wasm/lease.js";

/** Returns a text with its control and format characters escaped, as core shows texts that another party wrote. */
export const shown = (text: string): string => (/[^ -~]/.test(text) ? lease().shown(text) : text);

/** Makes an error about a store. Its server, its driver or other clients may have written parts of the message. */
export function failure(code: ErrorCode, store: unknown, why: string, ms?: number): SnowmintError {
  return new SnowmintError(code, shown(`${store}: ${why}`), ms);
}

/**
 * Makes a `STORE_UNAVAILABLE`, or an error of another code, with the store, the error of its driver and what to do. Returns a
 * SnowmintError unchanged.
 */
export function unavailable(
  store: unknown,
  cause: unknown,
  code: ErrorCode = "STORE_UNAVAILABLE",
  cure = "",
): SnowmintError {
  if (cause instanceof SnowmintError) return cause;
  const error = failure(code, store, messageOf(cause) + cure);
  // The same property that the constructor of Error would make.
  Object.defineProperty(error, "cause", { value: cause, writable: true, configurable: true });
  return error;
}

/** Returns the message of an error. The error of a host with several addresses has no message, but a list of errors. */
export function messageOf(error: unknown): string {
  const { message, code, errors } = Object(error) as { message?: unknown; code?: unknown; errors?: unknown };
  if (message) return String(message);
  if (Array.isArray(errors) && errors.length) return errors.map(messageOf).join(", ");
  return String(code ?? error);
}

/** Returns the result of `work`, or rejects after `ms`. A later result or rejection is dropped. */
export async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
    // In Node it is an object, which need not keep the process alive.
    (timer as { unref?(): unknown }).unref?.();
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
