// A wasm module as text, a fifth smaller in a gzipped bundle than gzip alone can make it. A model learns from the bits so far
// how likely the next one is a 1 (logistic regression over what stands before); the text is what those chances leave open,
// one long number (arithmetic coding). It takes sums, products and quotients, which every engine rounds alike,
// and no function of Math that may differ in its last digit. npm/scripts/build.mjs packs with the same code, so that the
// model can be changed freely: its constants are those that make our modules smallest.

const CONTEXTS = 6;
const SLOT_BITS = 19;
const PRIME = 99_999_989;
/** The coder's range is kept above this, and so below 2^26: numbers hold it times a chance. */
const NARROW = 2 ** 24;

// A character of a packed text stands for 5 bits if it is one of the first 16 here, and else for 7: what is frequent in the
// rest of the bundle has a short code there, as all characters of a bundle share one code. The backslash is left out, as it
// would have to be escaped.
const OFTEN = "at=srin)e:,o} {(\\";

function bitsOf(digit: string): string {
  const place = OFTEN.indexOf(digit);
  const code = place < 0 ? digit.charCodeAt(0) + 151 - [...OFTEN].filter((other) => other < digit).length : place + 32;
  return code.toString(2).slice(1);
}

/** The bytes of a packed text, of which there are `length`. */
export function unpack(text: string, length: number): Uint8Array<ArrayBuffer> {
  let range = 1;
  let value = 0;
  let read = 0;
  let bits = "";
  for (const digit of text) bits += bitsOf(digit);
  return modelled(length, (chance) => {
    for (; range < NARROW; range *= 2) value = value * 2 + (bits.charCodeAt(read++) & 1);
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
  let count = 0;
  let read = 0;
  modelled(bytes.length, (chance) => {
    for (; range < NARROW; range *= 2) {
      value *= 2n;
      count++;
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
  let bits = value.toString(2).padStart(count, "0");
  let text = "";
  const digits = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).filter(
    (digit) => !/["\\]/.test(digit) && /^(0.{4}|1.{6})$/.test(bitsOf(digit)),
  );
  while (bits) {
    const digit = digits.find((digit) => bits.padEnd(7, "0").startsWith(bitsOf(digit)))!;
    text += digit;
    bits = bits.slice(bitsOf(digit).length);
  }
  return text;
}

/** The part of a range that stands for a 1: never nothing, never all. */
const share = (range: number, chance: number): number => ((chance * (range - 2)) | 0) + 1;

/** As many bytes, of which each bit is what `bitOf` makes of its chance to be a 1. */
function modelled(length: number, bitOf: (chance: number) => number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  // Of each context, by the bits after it: what it adds to the logarithm of the odds of a 1, and how slowly that changes.
  const odds = new Float32Array(1 << SLOT_BITS);
  const slowness = new Float32Array(1 << SLOT_BITS);
  const slots = new Int32Array(CONTEXTS);
  // How much each kind of context counts, by the last opcode.
  const weights: number[][] = [];
  let weight: number[];
  // The last bytes; the last opcodes; of the last one, how many immediates are to come, and how many bytes of them came.
  let recent = 0;
  let opcodes = 0;
  let left = 0;
  let past = 0;
  // A function of its own, as engines make one that is often called fast much sooner than a loop.
  const more = (bits: number): number => {
    let sum = 0;
    for (let i = 0; i < CONTEXTS; i++) sum += weight[i]! * odds[slots[i]! ^ bits]!;
    // About 1 / (1 + e^-sum).
    let power = 1 - sum / 32;
    for (let i = 0; i < 5; i++) power *= power;
    const chance = 1 / (1 + power);
    const bit = bitOf(chance);
    const error = bit - chance;
    for (let i = 0; i < CONTEXTS; i++) {
      const slot = slots[i]! ^ bits;
      weight[i]! += 0.1 * error * odds[slot]!;
      odds[slot]! += error * (0.61 - slowness[slot]!);
      slowness[slot]! += 0.18 * (0.47 - slowness[slot]!);
    }
    return 2 * bits + bit;
  };
  for (let at = 0; at < length; at++) {
    // A context is nothing, the last opcode, the one before it, the last four, the last byte, or the last three, each with the
    // place in the last instruction.
    [0, opcodes & 0xff, opcodes & 0xff00, opcodes, recent & 0xff, recent & 0xffffff].forEach((context, i) => {
      const key = Math.imul(context, PRIME) + left + 4 * past;
      slots[i] = Math.imul(8 * key + i, PRIME) >>> (32 - SLOT_BITS);
    });
    weight = weights[opcodes & 0xff] ??= Array(CONTEXTS).fill(1.4);
    let bits = 1;
    while (bits < 256) bits = more(bits);
    bytes[at] = bits;
    const byte = bits - 256;
    recent = (recent << 8) | byte;
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

/** How many immediates most opcodes have: locals, constants, jumps and calls one, loads and stores two. */
function immediates(opcode: number): number {
  if (opcode > 39 && opcode < 63) return 2;
  return (opcode > 31 && opcode < 40) || (opcode > 64 && opcode < 67) || (opcode > 11 && opcode < 17) ? 1 : 0;
}
