// A wasm module as text, a fifth smaller in a gzipped bundle than gzip alone can make it. A model learns from the bits so far
// how likely the next one is a 1 (logistic regression over what stands before); the text is what those chances leave open,
// one long number of 91 digits (arithmetic coding). It takes sums, products and quotients, which every engine rounds alike,
// and no function of Math that may differ in its last digit. npm/scripts/build.mjs packs with the same code, so that the
// model can be changed freely: its constants are those that make our modules smallest.

// Digits: the characters 35 to 126 but the backslash, none of which a string literal would have to escape.
const FIRST = 35;
const BACKSLASH = 92;
const BASE = 91;
/** The coder's range is kept above this, and so below 2^31: numbers hold it times a chance, and times BASE. */
const NARROW = 2 ** 24;

/** The bytes of a packed text, of which there are `length`. */
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
    const ones = share(range, chance);
    const bit = (bytes[read >> 3]! >> (7 - (read & 7))) & 1;
    read++;
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

/** The part of a range that stands for a 1: never nothing, never all. */
const share = (range: number, chance: number): number => Math.floor(chance * (range - 2)) + 1;

const CONTEXTS = 5;
const SLOT_BITS = 19;

/** As many bytes, of which each bit is what `bitOf` makes of its chance to be a 1. */
function modelled(length: number, bitOf: (chance: number) => number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  // Of each context, by the bits after it: what it adds to the logarithm of the odds of a 1, and how fast that changes.
  const odds = new Float32Array(1 << SLOT_BITS);
  const rates = new Float32Array(1 << SLOT_BITS).fill(0.87);
  const slots = new Int32Array(CONTEXTS);
  // The last opcodes; of the last one, how many immediates are to come, and how many bytes of them came.
  let opcodes = 0;
  let left = 0;
  let past = 0;
  for (let at = 0; at < length; at++) {
    // A context is nothing, the last opcode, the one before it, the last three, or the last byte, each with the place in the
    // last instruction.
    const contexts = [0, opcodes & 0xff, opcodes & 0xff00, opcodes & 0xffffff, bytes[at - 1]!];
    for (let i = 0; i < CONTEXTS; i++) {
      const key = Math.imul(contexts[i]!, 0x2c1b3c6d) + left + 4 * past;
      slots[i] = Math.imul(8 * key + i, 0x9e3779b1) >>> (32 - SLOT_BITS);
    }
    let bits = 1;
    while (bits < 256) {
      let sum = 0;
      for (let i = 0; i < CONTEXTS; i++) sum += odds[slots[i]! ^ bits]!;
      // About 1 / (1 + e^-sum).
      let power = 1 - sum / 32;
      for (let i = 0; i < 5; i++) power *= power;
      const chance = 1 / (1 + power);
      const bit = bitOf(chance);
      for (let i = 0; i < CONTEXTS; i++) {
        const slot = slots[i]! ^ bits;
        odds[slot]! += (bit - chance) * rates[slot]!;
        rates[slot]! += 0.13 * (0.21 - rates[slot]!);
      }
      bits = 2 * bits + bit;
    }
    const byte = bits - 256;
    bytes[at] = byte;
    if (left) {
      past++;
      if (byte < 128) left--;
    } else {
      past = 0;
      opcodes = (opcodes << 8) | byte;
      left = immediates(byte);
    }
  }
  return bytes;
}

/** How many immediates most opcodes have: locals and constants one, loads and stores two, a jump or call one. */
function immediates(opcode: number): number {
  if (opcode > 39 && opcode < 63) return 2;
  return (opcode > 31 && opcode < 40) || opcode === 65 || opcode === 66 || opcode === 16 || opcode === 13 ? 1 : 0;
}
