// The IDs of an audit.
import { digits } from "../input.js";
import { reports, type WasmPile } from "../wasm/reports.js";

/** So many IDs go into the module at once. */
const CHUNK = 8192;

/** The options of an audit. Missing values have core's defaults. */
export interface AuditTerms {
  /** A name of a preset, or a text of a layout. */
  layout: string;
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  jitterMs?: number | undefined;
  unordered?: boolean | undefined;
  /** How IDs stand in a text: the form, the prefix, and the column of CSV. */
  format?: string | undefined;
  prefix?: string | undefined;
  column?: string | undefined;
}

/** The IDs of an audit, in the order in which they were written down, and then its report. */
export class Pile {
  readonly #pile: WasmPile;
  readonly #chunk = new BigUint64Array(CHUNK);
  #length = 0;

  /** Throws `INVALID_LAYOUT`, or `INVALID_TEXT` for an unknown form or a wrong prefix. */
  constructor({ layout, sinceMs, untilMs, jitterMs, unordered = false, format, prefix, column }: AuditTerms) {
    const { Pile } = reports();
    this.#pile = new Pile(layout, sinceMs, untilMs, jitterMs, unordered, Date.now(), format, prefix, column);
  }

  /** Adds the next ID. Throws `INVALID_ID`. */
  add(id: unknown): void {
    if (typeof id === "bigint" && BigInt.asUintN(64, id) === id) this.#chunk[this.#length++] = id;
    else {
      this.#flush();
      this.#pile.add(digits(id));
    }
    if (this.#length === CHUNK) this.#flush();
  }

  /** Adds the next IDs; negative ones are the signed form of 64 bits. */
  addArray({ buffer, byteOffset, length }: BigUint64Array | BigInt64Array): void {
    this.#flush();
    this.#pile.addArray(new BigUint64Array(buffer, byteOffset, length));
  }

  /** Reads the next bytes of a text. Returns a sentence if the text cannot be read at all. */
  push(bytes: Uint8Array): string | undefined {
    return this.#pile.push(bytes);
  }

  /** Ends a text. Returns the report, and sentences about wrong lines, or a single sentence if the text has no ID. */
  endText(): { complaints: string[]; isEmpty: boolean; report: WasmPile } {
    return { ...this.#pile.endText(), report: this.#pile };
  }

  /** Ends an audit of IDs. Returns the report, whose memory the caller frees. */
  end(): WasmPile {
    this.#flush();
    this.#pile.end();
    return this.#pile;
  }

  #flush(): void {
    if (this.#length) this.#pile.addArray(this.#chunk.subarray(0, this.#length));
    this.#length = 0;
  }
}
