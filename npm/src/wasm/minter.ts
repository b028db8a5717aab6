// What this realm remembers to mint UUIDs, ULIDs, ObjectIds, KSUIDs and xids, and random numbers that no ID has yet.
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

/** Mints an ID as a text, by the host's clock if no time is given. */
export function mintText(kind: MintedName, unixMs?: number): string {
  // Started before the clock is read.
  const current = minter();
  const nowMs = unixMs ?? Date.now();
  for (;;) {
    const text = current.text(Minted[kind], nowMs, 0);
    if (text !== undefined) return text;
    fill();
  }
}

/** Mints an ID, whose bytes fill an array. */
export function mintBytes(kind: MintedName, into: Uint8Array): void {
  const current = minter();
  while (!current.bytes(Minted[kind], Date.now(), into)) fill();
}

function fill(): void {
  minter().fill(crypto.getRandomValues(new Uint32Array(tools().poolSize())));
}
