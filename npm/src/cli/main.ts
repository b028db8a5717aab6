#!/usr/bin/env node
// The command line: `npx snowmint gen`, `inspect`, `layouts`, `doctor` and `audit`, with the output of `python -m snowmint`.
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import { Layout, prefix, Snowflake, SnowmintError, text } from "../index.js";
import { shown } from "../stores/shared/failure.js";
import { reports } from "../wasm/reports.js";
import {
  type AuditOptions,
  type DoctorOptions,
  type GenOptions,
  type InspectOptions,
  type LayoutsOptions,
  Mistake,
  read,
} from "./arguments.js";
import { audited } from "./audit.js";
import { examine } from "./doctor.js";
import * as render from "./render.js";

const BATCH = 4096;

const interrupted = new AbortController();

/** Writes a text and resolves when it is written. Rejects with the error of the system, such as EPIPE. */
function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Reports a mistake in one line, in which a text of others cannot command the terminal. */
const complain = (sentence: string): void => void process.stderr.write(`snowmint: ${shown(sentence)}\n`);

async function gen(options: GenOptions): Promise<number> {
  // No other work waits here while a call blocks.
  const { count, layout, node, store, namespace, maxWaitMs = reports().defaults().waitMs } = options;
  const { SNOWMINT_STORE, SNOWMINT_NAMESPACE } = process.env;
  const isVouched = node !== undefined && render.isVouched(store ?? SNOWMINT_STORE, namespace ?? SNOWMINT_NAMESPACE);
  const generator = isVouched
    ? new Snowflake({ layout, node, maxWaitMs })
    : await Snowflake.lease({ layout, node, store, namespace, maxWaitMs });
  try {
    const line = written(options);
    // A batch of a quarter second ends well before its deadline.
    const atOnce = Math.max(1, Math.min(BATCH, Math.floor(generator.layout.idsPerSecond / 4)));
    for (let left = count; left > 0 && !interrupted.signal.aborted; left -= atOnce) {
      await write(Array.from(generator.nextIds(Math.min(left, atOnce)), line).join(""));
      // Lets an interrupt in between two batches.
      await setImmediate();
    }
  } finally {
    await generator.close();
  }
  return 0;
}

function written({ json, format, prefix: start }: GenOptions): (id: bigint) => string {
  const text = format ? textOfForm(format) : start === undefined ? undefined : (id: bigint) => prefix.encode(start, id);
  if (json && text) return (id) => `{"id": "${id}", "text": "${text(id)}"}\n`;
  if (json) return (id) => `{"id": "${id}"}\n`;
  return text ? (id) => `${text(id)}\n` : (id) => `${id}\n`;
}

const textOfForm = (form: text.TextForm) => (id: bigint) => text.encode(id, form);

async function inspectEach(options: InspectOptions): Promise<number> {
  const layout = options.layout === undefined ? undefined : layoutOf(options.layout);
  let code = 0;
  for await (const value of options.ids.length ? options.ids : lines()) {
    try {
      const id = options.format ? text.decode(value, options.format) : value;
      if (layout) {
        await write(render.decoded(integer(id), layout, formOf(options)));
      } else {
        const [lines, found] = render.candidates(id, formOf(options));
        await write(lines);
        if (!found) code = Math.max(code, 1);
      }
    } catch (error) {
      if (!(error instanceof SnowmintError || error instanceof Mistake)) throw error;
      // The other IDs may be right.
      complain(`${value}: ${error.message}`);
      code = 2;
    }
  }
  return code;
}

/** Yields the lines of standard input that are not blank. */
async function* lines(): AsyncGenerator<string> {
  const input = process.stdin.setEncoding("latin1");
  for await (const line of createInterface({ input, crlfDelay: Infinity, signal: interrupted.signal })) {
    const value = textOf(Buffer.from(line, "latin1")).trim();
    if (value) yield value;
  }
}

/** Returns bytes as text. Bytes that are not UTF-8 become `\xff`, which no ID contains. */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return Array.from(bytes, (byte) =>
      byte < 128 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`,
    ).join("");
  }
}

/** Returns the layout of a text, or the preset of a name. */
const layoutOf = (text: string): Layout => (text.includes(":") ? Layout.parse(text) : Layout.preset(text));

function integer(value: string | bigint): bigint {
  if (typeof value === "string" && !/^-?[0-9]{1,40}$/.test(value))
    throw new Mistake("an ID is an integer from -2^63 to 2^64-1; --format names another form");
  return BigInt(value);
}

async function showLayouts(options: LayoutsOptions): Promise<number> {
  await write(render.layouts(options.layouts.map(layoutOf), formOf(options)));
  return 0;
}

async function doctor(options: DoctorOptions): Promise<number> {
  const layout = options.layout ?? process.env.SNOWMINT_LAYOUT ?? "snowmint";
  const [lines, isWell] = await examine(options, layoutOf(layout), formOf(options));
  await write(lines);
  return isWell ? 0 : 1;
}

async function audit(options: AuditOptions): Promise<number> {
  const done = await audited(options, formOf(options), interrupted.signal);
  if (!done) return 1;
  done.complaints.forEach(complain);
  await write(done.shown);
  return done.code;
}

/** Returns the form of the output. Headlines are bold on a terminal that shows bold text. */
function formOf({ json }: { json: boolean }): render.Format {
  return { json, bold: Boolean(process.stdout.isTTY) && !process.env.NO_COLOR && process.env.TERM !== "dumb" };
}

async function run(words: string[]): Promise<number> {
  const request = read(words);
  switch (request.verb) {
    case "gen":
      return gen(request);
    case "inspect":
      return inspectEach(request);
    case "layouts":
      return showLayouts(request);
    case "doctor":
      return doctor(request);
    case "audit":
      return audit(request);
    case "print":
      await write(request.text);
      return 0;
  }
}

/** Runs the command line and returns the exit code. */
async function main(words: string[]): Promise<number> {
  try {
    return await run(words);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The reader closed the output.
    if (code === "EPIPE") return 0;
    if (error instanceof Mistake || (error instanceof SnowmintError && code?.startsWith("INVALID_"))) {
      complain(error.message);
      return 2;
    }
    // An error without a code is a bug.
    if (code === undefined) throw error;
    complain((error as Error).message);
    return 1;
  }
}

process.once("SIGINT", () => interrupted.abort());
// Each write reports the error too.
process.stdout.on("error", () => {});
const code = await main(process.argv.slice(2));
process.exitCode = interrupted.signal.aborted ? 130 : code;
