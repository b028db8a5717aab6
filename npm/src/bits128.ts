// The functions that UUIDs, ULIDs, ObjectIds, KSUIDs and xids share.
import { type Instant, type Integer, integer, unixMs } from "./input.js";
import { putInteger, words } from "./wasm/engine.js";
import { minter } from "./wasm/wide.js";

/** Kinds of IDs, as in `wide.rs`. The kind of a minted UUID is its version. */
export const UUID = 0;
export const ULID = 9;
export const OBJECT_ID = 10;
export const KSUID = 11;
export const XID = 12;

/** How an ID is minted: without an argument as a text; with an array its bytes are put there, at `offset` or 0. */
export interface Mint {
  (): string;
  <Into extends Uint8Array>(into: Into, offset?: number): Into;
}

/** Makes the function that mints IDs of a kind. */
export function minting(kind: number): Mint {
  function mint(into?: Uint8Array, offset = 0): unknown {
    const current = minter();
    if (into === undefined) return current.told(current.mint(kind, Date.now()));
    const width = widthOf(kind);
    const free = array("into is", into).length - width;
    if (!(Number.isInteger(offset) && offset >= 0 && offset <= free))
      throw new RangeError(`${width} bytes do not fit at ${String(offset)} of an array of ${into.length}`);
    current.mint(kind, Date.now());
    // Faster than to copy a view, of so few.
    for (let at = 0; at < width; at++) into[offset + at] = current.bytes[at]!;
    return into;
  }
  return mint as Mint;
}

/** The bytes that are there. */
export const copied = (kind: number): Uint8Array => minter().bytes.slice(0, widthOf(kind));

/** The bytes of a text. */
export function bytesOf(kind: number, text: string): Uint8Array {
  minter().read(kind, text);
  return copied(kind);
}

/** The text of bytes. */
export function textOf(kind: number, bytes: Uint8Array): string {
  const current = minter();
  return current.told(current.write(kind, array("the ID is", bytes)));
}

/** The parts of an ID: `wide.rs`. */
export function partsOf(kind: number, text: string): BigUint64Array {
  const { engine } = minter();
  minter().read(kind, text);
  engine.wasm.parts(kind);
  return words(engine).slice(2, 8);
}

/** One of them as a number, or null where it is not there. */
export function partOf(kind: number, text: string, place: number): number | null {
  const part = BigInt.asIntN(64, partsOf(kind, text)[place]!);
  return part === -(2n ** 63n) ? null : Number(part);
}

/** An array of bytes, checked. */
export function array(what: string, given: Uint8Array): Uint8Array {
  if (given instanceof Uint8Array) return given;
  throw new TypeError(`${what} a Uint8Array, not ${String(given)}`);
}

/** Makes an ObjectId or an xid of an instant, 40 bits and 24 bits. */
export function fromTriple(kind: number, instant: Instant, random: Integer, counter: Integer): string {
  const current = minter();
  const { engine } = current;
  putInteger(engine, 0, integer(random, "INVALID_ID"));
  putInteger(engine, 2, integer(counter, "INVALID_ID"));
  return current.told(current.check(engine.wasm.object_id_of(kind, unixMs(instant))));
}

const widthOf = (kind: number): number => (kind === KSUID ? 20 : kind === OBJECT_ID || kind === XID ? 12 : 16);
