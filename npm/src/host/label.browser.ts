// The label of a page or worker in the records of a store.

/** Returns the label of this realm, for people. */
export const label = (): string => globalThis.location?.host || "a browser";
