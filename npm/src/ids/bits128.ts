// The functions that UUIDs, ULIDs, ObjectIds, KSUIDs and xids share.
import { type MintedName, mintBytes, mintText } from "../wasm/minter.js";
import { type Kind, tools } from "../wasm/tools.js";

/** How an ID is minted: without an argument as a text; with an array its bytes are put there, at `offset` or 0. */
export interface Mint {
  (): string;
  <Into extends Uint8Array>(into: Into, offset?: number): Into;
}

/** Makes the function that mints IDs of a kind. @internal */
export function minting(kind: MintedName): Mint {
  function mint(into?: Uint8Array, offset = 0): unknown {
    if (into === undefined) return mintText(kind);
    const width = widthOf(kind);
    const free = array("into is", into).length - width;
    if (!(Number.isInteger(offset) && offset >= 0 && offset <= free))
      throw new RangeError(`${width} bytes do not fit at ${String(offset)} of an array of ${into.length}`);
    // A plain array over the same memory, whatever the class of the caller's array adds.
    mintBytes(kind, new Uint8Array(into.buffer, into.byteOffset + offset, width));
    return into;
  }
  return mint as Mint;
}

const widthOf = (kind: MintedName): number => (kind === "Ksuid" ? 20 : kind === "ObjectId" || kind === "Xid" ? 12 : 16);

/** The bytes of a text. @internal */
export const bytesOf = (kind: Kind, text: string): Uint8Array => tools().bytesOfId(kind, String(text));

/** The text of bytes. @internal */
export const textOf = (kind: Kind, bytes: Uint8Array): string => tools().textOfId(kind, array("the ID is", bytes));

/** The time of an ID, Unix ms; null for an ID without a time. @internal */
export const timeOf = (kind: Kind, text: string): number | null => tools().timeOfId(kind, String(text)) ?? null;

/** An array of bytes, checked. @internal */
export function array(what: string, given: Uint8Array): Uint8Array {
  if (given instanceof Uint8Array) return given;
  throw new TypeError(`${what} a Uint8Array, not ${String(given)}`);
}
