// The wasm module as text: a byte is one printable ASCII character, or two if it is DIGITS or more. Beside base64 this
// saves a fifth after gzip, because equal bytes stay equal characters. The other side is npm/scripts/build.mjs.

/** The characters: printable, and none that a string literal would have to escape. */
export const ALPHABET = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i))
  .filter((c) => !'"$\\`'.includes(c))
  .join("");
/** The last two characters say that the byte is DIGITS or 2 * DIGITS more than the next one tells. */
export const DIGITS = ALPHABET.length - 2;

/** The bytes of a packed text. */
export function unpack(text: string): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  let more = 0;
  for (const character of text) {
    const value = ALPHABET.indexOf(character);
    if (value < DIGITS) {
      bytes.push(value + more);
      more = 0;
    } else more = (value - DIGITS + 1) * DIGITS;
  }
  return new Uint8Array(bytes);
}

/** The packed text of bytes. */
export function pack(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => {
    const more = Math.floor(byte / DIGITS);
    return (more ? ALPHABET[DIGITS + more - 1]! : "") + ALPHABET[byte % DIGITS]!;
  }).join("");
}
