/** Returns a text in UTF-8, in which half of a surrogate pair becomes U+FFFD. */
export function utf8(text: string): Uint8Array {
  if (typeof TextEncoder === "function") return new TextEncoder().encode(text);
  // In jest's jsdom there is no TextEncoder. A URL has a percent sign before each byte that is not plain.
  const escaped = encodeURIComponent(String(text).replace(/\p{Surrogate}/gu, "\ufffd"));
  return Uint8Array.from(escaped.match(/%..|./g) ?? [], (byte) =>
    byte.length > 1 ? Number.parseInt(byte.slice(1), 16) : byte.charCodeAt(0),
  );
}
