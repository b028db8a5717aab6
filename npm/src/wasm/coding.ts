// UTF-8 where the host lacks it, as jest's jsdom does. The bundles for browsers take these for the host's classes of that name.

class Encoder {
  encode(text: string): Uint8Array {
    // A URL has a percent sign before each byte that is not plain. Half of a surrogate pair becomes U+FFFD.
    const escaped = encodeURIComponent(String(text).replace(/\p{Surrogate}/gu, "\ufffd"));
    return Uint8Array.from(escaped.match(/%..|./g) ?? [], (byte) =>
      byte.length > 1 ? Number.parseInt(byte.slice(1), 16) : byte.charCodeAt(0),
    );
  }

  encodeInto(text: string, into: Uint8Array): { read: number; written: number } {
    const bytes = this.encode(text);
    into.set(bytes);
    return { read: text.length, written: bytes.length };
  }
}

class Decoder {
  decode(bytes: Uint8Array = new Uint8Array()): string {
    return decodeURIComponent(Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""));
  }
}

const { TextEncoder = Encoder, TextDecoder = Decoder } = globalThis as Partial<typeof globalThis>;

export { TextDecoder, TextEncoder };
