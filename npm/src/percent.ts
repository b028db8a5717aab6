/**
 * Returns a text in UTF-8, by way of a URL; half of a surrogate pair becomes U+FFFD. Code that leases do not need takes this,
 * and not utf8.ts: a page's bundler would load that file, which leases need, with the first code of a page.
 */
export function percentBytes(text: string): Uint8Array {
  const url = encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
  const bytes = url.replace(/%(..)/g, (_, byte) => String.fromCharCode(Number.parseInt(byte, 16)));
  return Uint8Array.from(bytes, (character) => character.charCodeAt(0));
}
