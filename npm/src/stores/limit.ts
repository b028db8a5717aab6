// Waiting that ends.

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
