// A wasm module as text, a fifth smaller in a gzipped bundle than gzip alone makes it. A model tells from the bytes so far
// how likely the next bit is 1; the text is what those chances leave open, one long number of 91 digits (arithmetic
// coding). Sums, products and quotients are all it takes, and every engine rounds these alike. The other side is
// npm/scripts/build.mjs.

// Digits: the characters 35 to 126 but the backslash, none of which a string literal would have to escape.
const FIRST = 35;
const BACKSLASH = 92;
const BASE = 91;
/** The coder's range is kept above this, and below 2^53, so that numbers hold it. */
const NARROW = 2 ** 40;

/** The bytes of a packed text. */
export function unpack(text: string, length: number): Uint8Array<ArrayBuffer> {
  let range = 1;
  let value = 0;
  let read = 0;
  return modelled(length, (chance) => {
    for (; range < NARROW; range *= BASE) {
      const code = text.charCodeAt(read++);
      value = value * BASE + code - (code > BACKSLASH ? FIRST + 1 : FIRST);
    }
    const ones = share(range, chance);
    if (value < ones) {
      range = ones;
      return 1;
    }
    range -= ones;
    value -= ones;
    return 0;
  });
}

/** The packed text of bytes. */
export function pack(bytes: Uint8Array): string {
  let range = 1;
  let value = 0n;
  let digits = 0;
  let read = 0;
  modelled(bytes.length, (chance) => {
    for (; range < NARROW; range *= BASE) {
      value *= BigInt(BASE);
      digits++;
    }
    const bit = (bytes[read >> 3]! >> (7 - (read & 7))) & 1;
    read++;
    const ones = share(range, chance);
    if (bit) range = ones;
    else {
      range -= ones;
      value += BigInt(ones);
    }
    return bit;
  });
  let text = "";
  for (; digits; digits--) {
    const code = FIRST + Number(value % BigInt(BASE));
    text = String.fromCharCode(code < BACKSLASH ? code : code + 1) + text;
    value /= BigInt(BASE);
  }
  return text;
}

/** How much of a range is for a 1: never nothing, never all. */
const share = (range: number, chance: number): number => 1 + Math.floor(chance * (range - 2));

const CONTEXTS = 4;
const SLOTS = 1 << 18;

/** `length` bytes, of which each bit is what `nextBit` makes of its chance to be 1. */
function modelled(length: number, nextBit: (chance: number) => number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  // What was learnt: by context and bits, how likely a 1 is (the logarithm of its odds), and how fast that still changes;
  // by bits, how much each context is worth.
  const odds = new Float32Array(SLOTS);
  const rates = new Float32Array(SLOTS).fill(4);
  const worth = new Float32Array(CONTEXTS << 10).fill(0.3);
  const contexts = new Int32Array(CONTEXTS);
  let before = 0;
  // The last opcodes; of the last one, how many immediates are to come, and how many bytes of these have.
  let opcodes = 0;
  let left = 0;
  let past = 0;
  for (let at = 0; at < length; at++) {
    for (let i = 0; i < CONTEXTS; i++) {
      const what = i < 3 ? opcodes & ((1 << (8 * i)) - 1) : before & 0xffff;
      contexts[i] = Math.imul((Math.imul(what, 0x2c1b3c6d) + left + 4 * past) * 4 + i, 0x9e3779b1) >>> 14;
    }
    let bits = 1;
    while (bits < 256) {
      const first = CONTEXTS * (left * 256 + bits);
      let sum = 0;
      for (let i = 0; i < CONTEXTS; i++) sum += odds[contexts[i]! ^ bits]! * worth[first + i]!;
      const chance = logistic(sum);
      const bit = nextBit(chance);
      for (let i = 0; i < CONTEXTS; i++) {
        const slot = contexts[i]! ^ bits;
        const odd = odds[slot]!;
        worth[first + i]! += 0.015 * (bit - chance) * odd;
        odds[slot] = odd + (bit - logistic(odd)) * rates[slot]!;
        rates[slot]! += (1.3 - rates[slot]!) * 0.4;
      }
      bits = 2 * bits + bit;
    }
    const byte = bits & 255;
    bytes[at] = byte;
    before = (before << 8) | byte;
    if (left) {
      past++;
      if (byte < 128) left--;
    } else {
      past = 0;
      opcodes = (opcodes << 8) | byte;
      left = byte > 31 && byte < 67 ? (byte < 40 || byte > 64 ? 1 : byte < 63 ? 2 : 0) : byte === 16 ? 1 : 0;
    }
  }
  return bytes;
}

/** 1 / (1 + e^-x), nearly. */
function logistic(x: number): number {
  let power = 1 - x / 64;
  for (let i = 0; i < 6; i++) power *= power;
  return 1 / (1 + power);
}
