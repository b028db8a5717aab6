// Reads the words of the command line.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { version } from "../generated/version.js";
import { prefix, text } from "../index.js";
import { instant } from "./render.js";

/** A mistake in the words of the command line. */
export class Mistake extends Error {}

/** The options of `gen`. */
export interface GenOptions {
  count: number;
  layout?: string | undefined;
  format?: text.TextForm | undefined;
  prefix?: string | undefined;
  node?: string | undefined;
  store?: string | undefined;
  namespace?: string | undefined;
  maxWaitMs?: number | undefined;
  json: boolean;
}

/** The options of `inspect`. */
export interface InspectOptions {
  ids: string[];
  layout?: string | undefined;
  format?: text.TextForm | undefined;
  json: boolean;
}

/** The options of `layouts`. */
export interface LayoutsOptions {
  layouts: string[];
  json: boolean;
}

/** The options of `doctor`. */
export interface DoctorOptions {
  layout?: string | undefined;
  node?: string | undefined;
  store?: string | undefined;
  namespace?: string | undefined;
  json: boolean;
}

/** The options of `audit`. */
export interface AuditOptions {
  file?: string | undefined;
  layout: string;
  format?: text.TextForm | undefined;
  prefix?: string | undefined;
  column?: string | undefined;
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  jitterMs?: number | undefined;
  unordered: boolean;
  svg?: string | undefined;
  json: boolean;
}

/** A verb with its options, or a text to print. */
export type Request =
  | ({ verb: "gen" } & GenOptions)
  | ({ verb: "inspect" } & InspectOptions)
  | ({ verb: "layouts" } & LayoutsOptions)
  | ({ verb: "doctor" } & DoctorOptions)
  | ({ verb: "audit" } & AuditOptions)
  | { verb: "print"; text: string };

const VERBS = ["gen", "inspect", "layouts", "doctor", "audit"];

const HELP = `usage: snowmint [-h] [--version] gen | inspect | layouts | doctor | audit ...

Mint and read IDs of the Snowflake family.

  gen         mint IDs
  inspect     show the parts of IDs
  layouts     show layouts
  doctor      examine what a generator would do here
  audit       say why a pile of IDs has duplicates

  -h, --help  show this help; after a verb the help of the verb
  --version   show the version

Exit codes: 0 for success, 1 for a failure or an unknown ID, 2 for wrong input.
`;

const GEN_HELP = `usage: snowmint gen [-n COUNT] [--layout LAYOUT]
                    [--format FORM | --prefix PREFIX] [--node NODE]
                    [--store URL] [--namespace NAMESPACE] [--max-wait-ms MS]
                    [--json]

Mint IDs, one per line.

  -n, --count COUNT      how many IDs to mint [default: 1]
  --layout LAYOUT        name of a preset, or text of a layout [default:
                         SNOWMINT_LAYOUT, otherwise snowmint]
  --format FORM          text form of fixed width: decimal, hex, base32, base36,
                         base58, base62 [default: the number without padding]
  --prefix PREFIX        prefix before each ID, with 13 characters after it:
                         user_1asd13xh1f800
  --node NODE            node that no other generator uses: 5, or
                         datacenter=0,worker=5 [default: SNOWMINT_NODE,
                         otherwise a leased node]
  --store URL            store to lease a node from [default: SNOWMINT_STORE,
                         otherwise the slots of this machine]
  --namespace NAMESPACE  namespace in which each lease has its own node
                         [default: SNOWMINT_NAMESPACE, otherwise the layout's]
  --max-wait-ms MS       how long a batch may wait for the clock
  --json                 print one JSON object per line
`;

const INSPECT_HELP = `usage: snowmint inspect [--layout LAYOUT] [--format FORM] [--json] [ID ...]

Show the parts of IDs, in one layout or in every layout that could have minted
them.

  ID               IDs to read [default: the lines of standard input]
  --layout LAYOUT  read the IDs in this layout only: name of a preset, or text
                   of a layout
  --format FORM    text form of the IDs: decimal, hex, base32, base36, base58,
                   base62
  --json           print one JSON object per line
`;

const LAYOUTS_HELP = `usage: snowmint layouts [--json] [LAYOUT ...]

Show all presets, or the given layouts.

  LAYOUT  names of presets, or texts of layouts [default: all presets]
  --json  print one JSON object per line
`;

const DOCTOR_HELP = `usage: snowmint doctor [--layout LAYOUT] [--node NODE] [--store URL]
                       [--namespace NAMESPACE] [--json]

Examine what a generator would do here: its store, node and clock, and what must
be mended. Connects to the store as a generator does, which makes missing
tables, and claims no node.

  --layout LAYOUT        name of a preset, or text of a layout [default:
                         SNOWMINT_LAYOUT, otherwise snowmint]
  --node NODE            node that the generator is given: 5, or
                         datacenter=0,worker=5 [default: SNOWMINT_NODE,
                         otherwise a leased node]
  --store URL            store of the generator's lease, over the package pg,
                         mysql2, ioredis, redis, better-sqlite3 or
                         @aws-sdk/client-dynamodb of this project [default:
                         SNOWMINT_STORE, otherwise the slots of this machine]
  --namespace NAMESPACE  namespace of the lease [default: SNOWMINT_NAMESPACE,
                         otherwise the layout's]
  --json                 print one JSON object per line

Exit code 1: something must be mended.
`;

const AUDIT_HELP = `usage: snowmint audit [--layout LAYOUT] [--format FORM | --prefix PREFIX]
                      [--column NAME] [--since TIME] [--until TIME]
                      [--jitter-ms MS] [--unordered] [--svg FILE] [--json]
                      [FILE]

Say why a pile of IDs has duplicates: nodes that two processes share, clocks
that stepped back, and more. Reads one ID per line, in the order in which they
were written down, or a column of a CSV file.

  FILE             file to read [default: standard input]
  --layout LAYOUT  name of a preset, or text of a layout [default: snowmint]
  --format FORM    text form of the IDs: decimal, hex, base32, base36, base58,
                   base62 [default: the number without padding]
  --prefix PREFIX  prefix of each ID, with 13 characters after it:
                   user_1asd13xh1f800
  --column NAME    column with the IDs: the file is CSV
  --since TIME     when the system began, in RFC 3339 or Unix ms: earlier IDs
                   are findings [default: the epoch of the layout]
  --until TIME     later IDs are in the future, in RFC 3339 or Unix ms [default:
                   a minute from now]
  --jitter-ms MS   how late a line is at most, because threads overtake each
                   other: smaller steps back are no finding [default: 10]
  --unordered      the IDs stand in no order: report only findings that need
                   none
  --svg FILE       write a picture of the nodes over time, with the findings
                   marked
  --json           print the report as a JSON object

Exit code 0: nothing found; 1: findings; 2: lines that are no ID, which are
reported and passed over, or other wrong input. Parquet files are read by
python -m snowmint audit and by the crate snowmint-server.
`;

/** Reads the words. Throws `Mistake`. */
export function read([verb, ...words]: string[]): Request {
  switch (verb) {
    case "gen":
      return gen(words);
    case "inspect":
      return inspect(words);
    case "layouts":
      return layouts(words);
    case "doctor":
      return doctor(words);
    case "audit":
      return audit(words);
    case "-h":
    case "--help":
      return { verb: "print", text: HELP };
    case "--version":
      return { verb: "print", text: `snowmint ${version}\n` };
  }
  if (verb === undefined) throw mistake(`one of ${VERBS.join(" | ")} is needed`);
  if (verb.startsWith("-")) throw mistake(`unknown option '${verb}'`);
  throw mistake(`invalid choice: '${verb}' (choose from ${VERBS.join(", ")})`);
}

function gen(words: string[]): Request {
  const { values } = parsed("gen", words, {
    allowPositionals: false,
    options: {
      ...COMMON,
      count: { type: "string", short: "n", default: "1" },
      prefix: { type: "string" },
      node: { type: "string" },
      store: { type: "string" },
      namespace: { type: "string" },
      "max-wait-ms": { type: "string" },
    },
  });
  if (values.help) return { verb: "print", text: GEN_HELP };
  const { layout, node, store, namespace, json = false } = values;
  const maxWaitMs = optional(values["max-wait-ms"], (wait) => whole("gen", "--max-wait-ms", wait));
  const count = whole("gen", "-n/--count", values.count);
  return { verb: "gen", count, layout, node, store, namespace, maxWaitMs, json, ...written("gen", values) };
}

function inspect(words: string[]): Request {
  const { values, positionals } = parsed("inspect", words, { allowPositionals: true, options: COMMON });
  if (values.help) return { verb: "print", text: INSPECT_HELP };
  const { layout, json = false } = values;
  return { verb: "inspect", ids: positionals.map(shown), layout, json, format: form("inspect", values.format) };
}

function layouts(words: string[]): Request {
  const { help, json } = COMMON;
  const { values, positionals } = parsed("layouts", words, { allowPositionals: true, options: { help, json } });
  if (values.help) return { verb: "print", text: LAYOUTS_HELP };
  return { verb: "layouts", layouts: positionals.map(shown), json: values.json ?? false };
}

function doctor(words: string[]): Request {
  const { help, layout: layoutOption, json: jsonOption } = COMMON;
  const { values } = parsed("doctor", words, {
    allowPositionals: false,
    options: {
      help,
      layout: layoutOption,
      json: jsonOption,
      node: { type: "string" },
      store: { type: "string" },
      namespace: { type: "string" },
    },
  });
  if (values.help) return { verb: "print", text: DOCTOR_HELP };
  const { layout, node, store, namespace, json = false } = values;
  return { verb: "doctor", layout, node, store, namespace, json };
}

function audit(words: string[]): Request {
  const { values, positionals } = parsed("audit", words, {
    allowPositionals: true,
    options: {
      ...COMMON,
      prefix: { type: "string" },
      column: { type: "string" },
      since: { type: "string" },
      until: { type: "string" },
      "jitter-ms": { type: "string" },
      unordered: { type: "boolean", default: false },
      svg: { type: "string" },
    },
  });
  if (values.help) return { verb: "print", text: AUDIT_HELP };
  const [file, more] = positionals.map(shown);
  if (more !== undefined) throw mistake(`one file at a time: ${file} and ${more}`, "audit");
  const { layout = "snowmint", column, since, until, unordered, svg, json = false } = values;
  return {
    verb: "audit",
    file,
    layout,
    ...written("audit", values),
    column,
    sinceMs: optional(since, (time) => unixMs("--since", time)),
    untilMs: optional(until, (time) => unixMs("--until", time)),
    jitterMs: optional(values["jitter-ms"], (ms) => whole("audit", "--jitter-ms", ms)),
    unordered,
    svg,
    json,
  };
}

const COMMON = {
  help: { type: "boolean", short: "h" },
  layout: { type: "string" },
  format: { type: "string" },
  json: { type: "boolean" },
} as const;

function parsed<T extends ParseArgsConfig>(verb: string, words: string[], config: T) {
  try {
    return parseArgs({ ...config, args: words.map(hidden) });
  } catch (error) {
    // The first sentence names the mistake.
    throw mistake(shown((error as Error).message.split(/\.\s/)[0]!.replace(/\.$/, "")), verb);
  }
}

/** Puts a blank before a negative number, so that parseArgs does not take the number for an option. */
const hidden = (word: string): string => (/^-\d+$/.test(word) ? ` ${word}` : word);
const shown = (word: string): string => word.replace(/^ (?=-\d+$)/, "");

function whole(verb: string, option: string, given: string): number {
  if (/^[0-9]+$/.test(given)) return Number(given);
  throw mistake(`${option}: write a whole number from 0 on, not '${shown(given)}'`, verb);
}

function form(verb: string, given: string | undefined): text.TextForm | undefined {
  const known = text.FORMS.find((form) => form === given);
  if (given === undefined || known) return known;
  throw mistake(`--format: invalid choice: '${given}' (choose from ${text.FORMS.join(", ")})`, verb);
}

/** How IDs are written: in a form, or with a prefix. */
function written(verb: string, given: { format?: string; prefix?: string }) {
  if (given.prefix !== undefined && given.format !== undefined)
    throw mistake("--prefix: not allowed with argument --format", verb);
  return { format: form(verb, given.format), prefix: optional(given.prefix, (text) => start(verb, text)) };
}

function start(verb: string, given: string): string {
  try {
    return prefix.of(given).prefix;
  } catch (error) {
    throw mistake(`--prefix: ${(error as Error).message}`, verb);
  }
}

function unixMs(option: string, given: string): number {
  const ms = instant(shown(given));
  if (typeof ms === "number") return ms;
  throw mistake(`${option}: ${ms}`, "audit");
}

const optional = <T>(given: string | undefined, read: (given: string) => T): T | undefined =>
  given === undefined ? undefined : read(given);

function mistake(sentence: string, verb?: string): Mistake {
  return new Mistake(`${sentence} (see snowmint ${verb ? `${verb} ` : ""}--help)`);
}
