// Says why a pile of IDs has duplicates. Core reads the lines and writes the sentences; this file reads the input.
import { createReadStream, statSync, writeFileSync } from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import { Pile } from "../audit/pile.js";
import { type AuditOptions, Mistake } from "./arguments.js";
import { Progress } from "./progress.js";
import type { Format } from "./render.js";

/** Memory for reading: fewer calls of the system for a file of many MB. */
const BUFFER = 1 << 18;
/** The first bytes of a Parquet file. */
const PARQUET = "PAR1";

/** What an audit prints and its exit code: 0 nothing was found, 1 findings, 2 lines that are no ID. */
export interface Audited {
  complaints: string[];
  shown: string;
  code: 0 | 1 | 2;
}

/** Reads IDs and audits them. Returns undefined after an interrupt. Throws `Mistake` if the input cannot be read at all. */
export async function audited(
  options: AuditOptions,
  { json, bold }: Format,
  interrupt: AbortSignal,
): Promise<Audited | undefined> {
  const { file, svg, ...terms } = options;
  const pile = new Pile(terms);
  try {
    await push(pile, file, interrupt);
  } catch (error) {
    if (interrupt.aborted) return undefined;
    throw file !== undefined && isOfSystem(error) ? new Mistake(`${file}: ${reason(error)}`) : error;
  }
  const { complaints, isEmpty, report } = pile.endText();
  if (isEmpty) throw new Mistake(complaints[0]);
  if (svg !== undefined) write(svg, report.svg());
  const shown = json ? report.json() : report.text(bold);
  return { complaints, shown, code: complaints.length ? 2 : report.findings ? 1 : 0 };
}

/** Passes the bytes of a file, or of standard input, to a pile. */
async function push(pile: Pile, file: string | undefined, interrupt: AbortSignal): Promise<void> {
  const progress = new Progress(file === undefined ? undefined : statSync(file).size);
  const source: Readable = file === undefined ? process.stdin : createReadStream(file, { highWaterMark: BUFFER });
  let isFirst = true;
  try {
    for await (const bytes of addAbortSignal(interrupt, source) as AsyncIterable<Buffer>) {
      if (isFirst && bytes.toString("latin1", 0, PARQUET.length) === PARQUET) throw noParquet();
      isFirst = false;
      const sentence = pile.push(bytes);
      if (sentence !== undefined) throw new Mistake(sentence);
      progress.add(bytes.length);
    }
  } finally {
    progress.clear();
  }
}

function noParquet(): Mistake {
  return new Mistake(
    "the input is a Parquet file, which this command line does not read: use python -m snowmint audit, or snowmint audit " +
      "of the crate snowmint-server with its feature parquet, or export the column as CSV",
  );
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw Object.assign(new Error(`${file}: ${reason(error as Error)}`), {
      code: (error as NodeJS.ErrnoException).code,
    });
  }
}

const isOfSystem = (error: unknown): error is NodeJS.ErrnoException =>
  (error as NodeJS.ErrnoException).syscall !== undefined;

/** Returns the sentence of an error of the system without its call and path: "ENOENT: no such file or directory". */
const reason = ({ message }: Error): string => message.split(", ")[0]!;
