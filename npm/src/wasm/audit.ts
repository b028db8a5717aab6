// The engine of audits. The IDs of an audit fill the memory of its instance, so each audit has an instance, and its memory is
// free when the report is there.
import module from "#wasm/audit";
import { type ErrorCode, SnowmintError } from "../errors.js";
import type * as Audit from "../generated/audit.wasm.js";
import { integer } from "../input.js";
import { utf8 } from "../utf8.js";
import { type Engine, putInteger, start, words } from "./engine.js";

/** So many IDs go into the module at once. */
const CHUNK = 8192;

/** What an audit goes by. Missing values have core's defaults. */
export interface AuditTerms {
  /** A name of a preset, or a text of a layout. */
  layout: string;
  sinceMs?: number;
  untilMs?: number;
  jitterMs?: number;
  unordered?: boolean;
  /** How IDs stand in a text: the form, the prefix, and the column of CSV. */
  format?: string;
  prefix?: string;
  column?: string;
}

/** The forms of a report, as the module numbers them. */
const FORMS = ["text", "bold", "json", "svg"] as const;

/** The IDs of an audit, in the order in which they were written down. */
export class Pile {
  readonly #engine: Engine<typeof Audit> = start<typeof Audit>(module);
  readonly #chunk = new BigUint64Array(CHUNK);
  #length = 0;

  /** Throws `INVALID_LAYOUT`, or `INVALID_TEXT` for an unknown form or a wrong prefix. */
  constructor({ layout, sinceMs = NaN, untilMs = NaN, jitterMs = NaN, unordered, ...source }: AuditTerms) {
    const { format = "", prefix = "", column = "" } = source;
    this.#put(utf8([layout, format, prefix, column].join("\0")));
    this.#check(this.#engine.wasm.begin(sinceMs, untilMs, jitterMs, +(unordered ?? false), Date.now()));
  }

  /** Adds the next ID. Throws `INVALID_ID`. */
  add(given: unknown): void {
    const id = integer(given);
    this.#chunk[this.#length++] = BigInt.asUintN(64, id) === id ? id : this.#signed(id);
    if (this.#length === CHUNK) this.#flush();
  }

  /** Adds the next IDs; negative ones are the signed form of 64 bits. */
  addArray({ buffer, byteOffset, byteLength }: BigUint64Array | BigInt64Array): void {
    this.#flush();
    const most = CHUNK * 8;
    for (let at = 0; at < byteLength; at += most) {
      this.#put(new Uint8Array(buffer, byteOffset + at, Math.min(most, byteLength - at)));
      this.#engine.wasm.add();
    }
  }

  /** Reads the next bytes of a text. Returns a sentence if the text cannot be read at all. */
  push(bytes: Uint8Array): string | undefined {
    this.#put(bytes);
    const length = this.#engine.wasm.push();
    return length ? this.#output(length) : undefined;
  }

  /** Ends a text. Returns sentences about its wrong lines, or a single one if the text has no ID. */
  endText(): { complaints: string[]; isEmpty: boolean } {
    const length = this.#engine.wasm.end_text();
    const isEmpty = length < 0;
    const told = this.#output(isEmpty ? -1 - length : length);
    return { complaints: told ? told.split("\n") : [], isEmpty };
  }

  /** Ends an audit of IDs. */
  end(): void {
    this.#flush();
    this.#engine.wasm.end();
  }

  /** The number of findings. */
  get findings(): number {
    return this.#engine.wasm.findings();
  }

  /** Returns the report as a text, with bold headlines, as JSON, or as a picture. */
  written(form: (typeof FORMS)[number]): string {
    return this.#output(this.#engine.wasm.write(FORMS.indexOf(form)));
  }

  /** Returns the IDs a second of the node at a place of the report. */
  idsPerSecond(at: number): number {
    return this.#engine.wasm.ids_per_second(at);
  }

  /** Returns the 64 bits of an ID that is negative. Throws `INVALID_ID` beyond 64 bits. */
  #signed(id: bigint): bigint {
    putInteger(this.#engine, 0, id);
    this.#check(this.#engine.wasm.id());
    return words(this.#engine)[0]!;
  }

  #flush(): void {
    if (!this.#length) return;
    this.#put(new Uint8Array(this.#chunk.buffer, 0, this.#length * 8));
    this.#engine.wasm.add();
    this.#length = 0;
  }

  #put(bytes: Uint8Array): void {
    const { wasm } = this.#engine;
    // The call may grow the memory, so the view comes after it.
    const address = wasm.input(bytes.length);
    new Uint8Array(wasm.memory.buffer, address, bytes.length).set(bytes);
  }

  #output(length: number): string {
    const { wasm } = this.#engine;
    return new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, wasm.output(), length));
  }

  #check(result: number): void {
    if (result >= 0) return;
    const [, code, sentence] = /^(\S+) (.*)/s.exec(this.#output(-1 - result))!;
    throw new SnowmintError(code as ErrorCode, sentence!);
  }
}
