// The state of this realm for minting UUIDs, ULIDs, ObjectIds, KSUIDs and xids, and its unused random numbers.
import { version } from "../generated/version.js";
import { Minted, tools, type WasmMinter } from "./tools.js";

/** The name of a kind of ID to mint. */
export type MintedName = keyof typeof Minted;

let current: WasmMinter | undefined;

/** The one of this realm, made when first used. ESM, CommonJS and duplicate installs of one version share it. */
function minter(): WasmMinter {
  return (current ??= ofRealm());
}

function ofRealm(): WasmMinter {
  // Here, as bundlers leave out no call in which a text is put together.
  const key = Symbol.for(`snowmint.minter.${version}`);
  const realm = globalThis as { [key]?: WasmMinter };
  return (realm[key] ??= new (tools().Minter)());
}

/** The ASCII of a text. */
let ascii: Uint8Array | undefined;

/** Mints an ID as a text, by the host's clock if no time is given. */
export function mintText(kind: MintedName, unixMs?: number): string {
  // Started before the clock is read.
  const current = minter();
  const nowMs = unixMs ?? Date.now();
  ascii ??= new Uint8Array(tools().longestText());
  for (;;) {
    const length = current.text(Minted[kind], nowMs, 0, ascii);
    if (length) return textOf(ascii, length);
    fill();
  }
}

/** Arrays by their length: an array that is new for each text takes twice the time. */
const arrays: number[][] = [];

type FromCodes = (...codes: (number | undefined)[]) => string;

function textOf(b: Uint8Array, length: number): string {
  // A UUID's by arguments that are written out, which takes half the time of an array of them.
  if (length === 36)
    // biome-ignore format: as many in a row as in the others
    return (String.fromCharCode as FromCodes)(
      b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
      b[12], b[13], b[14], b[15], b[16], b[17], b[18], b[19], b[20], b[21], b[22], b[23],
      b[24], b[25], b[26], b[27], b[28], b[29], b[30], b[31], b[32], b[33], b[34], b[35],
    );
  const codes = (arrays[length] ??= new Array(length).fill(0));
  for (let at = 0; at < length; at++) codes[at] = b[at]!;
  return String.fromCharCode(...codes);
}

/** Mints an ID, whose bytes fill an array. */
export function mintBytes(kind: MintedName, into: Uint8Array): void {
  const current = minter();
  while (!current.bytes(Minted[kind], Date.now(), into)) fill();
}

function fill(): void {
  minter().fill(crypto.getRandomValues(new Uint32Array(tools().poolSize())));
}
