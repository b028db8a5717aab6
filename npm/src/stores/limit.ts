// Waiting that ends.

/** What `work` comes to, or a rejection after so many ms. What comes later is dropped, also if it is a rejection. */
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
