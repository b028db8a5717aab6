/** Returns a text in UTF-8, in which half of a surrogate pair becomes U+FFFD. */
export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
