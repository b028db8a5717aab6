// The engine of UUIDs, ULIDs, ObjectIds, KSUIDs and xids: what this realm remembers to mint them, and random bits that it has not used.
import module from "#wasm/wide";
import { SENTENCES } from "../generated/tables.wide.js";
import { version } from "../generated/version.js";
import type * as Wide from "../generated/wide.wasm.js";
import { bytes, type Engine, putText, start, takeError, words } from "./engine.js";

/** The answer of `mint` when the pool has no random bits left, and the size of the pool in numbers: `minter.rs`. */
const DRY = -2;
const POOL = 1024;

type FromCodes = (...codes: (number | undefined)[]) => string;

/**
 * One state of each kind. Tests of clocks and random bits make separate instances.
 */
export class Minter {
  readonly engine: Engine<typeof Wide>;
  /** The places of random numbers, and of text and bytes of an ID. Views that live until the memory grows. */
  pool!: Uint32Array<ArrayBuffer>;
  text!: Uint8Array;
  bytes!: Uint8Array;
  /** For texts, by their length: an array that is new each time takes twice the time. */
  readonly codes: number[][] = [];

  constructor() {
    this.engine = start<typeof Wide>(module);
    this.view();
  }

  /** Makes the views, which only a name can let outgrow the memory. */
  view(): void {
    const { wasm } = this.engine;
    const { buffer, byteOffset } = words(this.engine);
    this.pool = new Uint32Array(wasm.memory.buffer, wasm.pool_address(), POOL);
    this.text = bytes(this.engine);
    this.bytes = new Uint8Array(buffer, byteOffset);
  }

  /** Reports how many random numbers stand at the beginning of the pool. */
  pooled(count: number): void {
    this.engine.wasm.pooled(count);
  }

  /** Mints an ID, and returns the length of its text. `more` is the time of the clock beyond `nowMs`, in steps of 100 ns. */
  mint(kind: number, nowMs: number, more = 0): number {
    const length = this.engine.wasm.mint(kind, nowMs, more);
    if (length !== DRY) return this.check(length);
    crypto.getRandomValues(this.pool);
    this.pooled(POOL);
    return this.mint(kind, nowMs, more);
  }

  /** Reads a text, so that the bytes are there: the length of the one that is written. */
  read(kind: number, text: string): number {
    return this.check(this.engine.wasm.read(kind, putText(this.engine, text)));
  }

  /** Reads bytes: the length of their text. */
  write(kind: number, bytes: Uint8Array): number {
    this.bytes.set(bytes.subarray(0, 20));
    return this.check(this.engine.wasm.write(kind, bytes.length));
  }

  /** Lets the next ID come after that one, of version 7 or a ULID. */
  after(kind: number, text: string): void {
    this.read(kind, text);
    this.engine.wasm.go_on_from(kind);
  }

  /** The text of that length. */
  told(length: number): string {
    const b = this.text;
    // A UUID's by arguments that are written out, which takes half the time of an array of them.
    if (length === 36)
      // biome-ignore format: as many in a row as in the others
      return (String.fromCharCode as FromCodes)(
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
        b[12], b[13], b[14], b[15], b[16], b[17], b[18], b[19], b[20], b[21], b[22], b[23],
        b[24], b[25], b[26], b[27], b[28], b[29], b[30], b[31], b[32], b[33], b[34], b[35],
      );
    const codes = (this.codes[length] ??= new Array(length).fill(0));
    for (let at = 0; at < length; at++) codes[at] = b[at]!;
    return String.fromCharCode(...codes);
  }

  /** Returns a result, or throws the failure. */
  check(result: number): number {
    if (result < 0) throw takeError(this.engine, (place, mark) => SENTENCES[place]!.replace("{k}", `${mark}`));
    return result;
  }
}

let current: Minter | undefined;

/** The one of this realm, made when first used. ESM, CommonJS and duplicate installs of one version share it. */
export function minter(): Minter {
  return (current ??= ofRealm());
}

function ofRealm(): Minter {
  // Here, as bundlers leave out no call in which a text is put together.
  const key = Symbol.for(`snowmint.minter.${version}`);
  const realm = globalThis as { [key]?: Minter };
  return (realm[key] ??= new Minter());
}
