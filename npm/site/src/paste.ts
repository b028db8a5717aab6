// The ID in a pasted text: from code, a table, a chat, the address of a page.
import { inspect } from "snowmint";

/** Characters around IDs: space, invisible marks, quotes, and the end of a line of code or of a list. */
const AROUND = "[\\s\\u200b-\\u200f\\u2060\\ufeff\"'`´‘’“”«»,;]+";
const EDGES = new RegExp(`^${AROUND}|${AROUND}$`, "g");
/** Digits in groups: of three, or of any length where the mark is the one of code. */
const GROUPS = /^-?\d{1,3}([,.'’ \u00a0\u2009\u202f])\d{3}(?:\1\d{3})*$|^-?\d+(?:_\d+)+$/;

/** Returns the ID in a text; the text itself if it is an ID, or contains none. */
export function idIn(pasted: string): string {
  const text = pasted.trim();
  if (reads(text)) return text;
  const bare = text.replace(EDGES, "");
  const found = bare.includes("/") ? (idOfPath(bare) ?? "") : integer(bare);
  return reads(found) || isBeyond64Bits(found) ? found : text;
}

/** Removes the suffix `n` of code and the separators of digit groups from an integer; other text stays. */
function integer(text: string): string {
  const digits = text.replace(/(?<=\d)n$/, "");
  if (/^-?\d+$/.test(digits)) return digits;
  return GROUPS.test(digits) ? digits.replace(/[^\d-]/g, "") : text;
}

/** Of the parts of a path the last one that is likely, or else that reads at all: `/status/1541815603606036480/photo/1`. */
function idOfPath(address: string): string | undefined {
  const parts = address
    .replace(/[?#].*$/s, "")
    .split("/")
    .reverse();
  return parts.find((part) => inspect(part).some(({ plausible }) => plausible)) ?? parts.find(reads);
}

/** Whether any system writes such IDs. */
function reads(text: string): boolean {
  return inspect(text).length > 0;
}

/** Whether it is an integer that no 64 bits hold. */
export function isBeyond64Bits(text: string): boolean {
  // Longer ones need not be read.
  if (!/^-?\d+$/.test(text)) return false;
  const digits = text.replace(/^-?0*/, "");
  if (digits.length > 20) return true;
  const value = BigInt(text);
  return value >= 2n ** 64n || value < -(2n ** 63n);
}
