// What the command line takes: words in, a request out.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { version } from "../generated/version.js";
import { text } from "../index.js";

/** Something wrong in what was typed. */
export class Mistake extends Error {}

/** What `gen` is asked for. */
export interface GenOptions {
  count: number;
  layout?: string;
  format?: text.TextForm;
  node?: string;
  store?: string;
  namespace?: string;
  maxWaitMs?: number;
  json: boolean;
}

/** What `inspect` is asked for. */
export interface InspectOptions {
  ids: string[];
  layout?: string;
  format?: text.TextForm;
  json: boolean;
}

/** What `layouts` is asked for. */
export interface LayoutsOptions {
  layouts: string[];
  json: boolean;
}

/** One verb with its options, or a text to show. */
export type Request =
  | ({ verb: "gen" } & GenOptions)
  | ({ verb: "inspect" } & InspectOptions)
  | ({ verb: "layouts" } & LayoutsOptions)
  | { verb: "told"; text: string };

const VERBS = ["gen", "inspect", "layouts"];

const HELP = `usage: snowmint [-h] [--version] gen | inspect | layouts ...

Mint and read IDs of the Snowflake family.

  gen         mint IDs
  inspect     take IDs apart
  layouts     show layouts

  -h, --help  show this help; after gen, inspect or layouts, what that takes
  --version   show the version

Exit codes: 0, or 1 if something failed or is unknown, or 2 if the input is
wrong.
`;

const GEN_HELP = `usage: snowmint gen [-n COUNT] [--layout LAYOUT] [--format FORM] [--node NODE]
                    [--store URL] [--namespace NAMESPACE] [--max-wait-ms MS]
                    [--json]

Mints IDs, one a line.

  -n, --count COUNT      how many (1)
  --layout LAYOUT        a preset's name or a layout's text (snowmint)
  --format FORM          decimal, hex, base32, base36, base58, base62 (the bare
                         number)
  --node NODE            a node that nobody else uses: 5, or
                         datacenter=0,worker=5 (SNOWMINT_NODE, or else one is
                         leased)
  --store URL            where to lease a node (SNOWMINT_STORE, or else of this
                         machine)
  --namespace NAMESPACE  whose leases share no node (SNOWMINT_NAMESPACE, or else
                         the layout's)
  --max-wait-ms MS       how long a batch may wait for the clock
  --json                 a JSON object a line
`;

const INSPECT_HELP = `usage: snowmint inspect [--layout LAYOUT] [--format FORM] [--json] [ID ...]

Tells what IDs say: under one layout, or under each that could have minted
them.

  ID               an ID; without any, the lines of standard input
  --layout LAYOUT  a preset's name or a layout's text: only this one
  --format FORM    that of the IDs: decimal, hex, base32, base36, base58, base62
  --json           a JSON object a line
`;

const LAYOUTS_HELP = `usage: snowmint layouts [--json] [LAYOUT ...]

Shows all presets, or the layouts given.

  LAYOUT  a preset's name or a layout's text
  --json  a JSON object a line
`;

/** What the words ask for. Throws `Mistake`. */
export function read([verb, ...words]: string[]): Request {
  switch (verb) {
    case "gen":
      return gen(words);
    case "inspect":
      return inspect(words);
    case "layouts":
      return layouts(words);
    case "-h":
    case "--help":
      return { verb: "told", text: HELP };
    case "--version":
      return { verb: "told", text: `snowmint ${version}\n` };
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
      node: { type: "string" },
      store: { type: "string" },
      namespace: { type: "string" },
      "max-wait-ms": { type: "string" },
    },
  });
  if (values.help) return { verb: "told", text: GEN_HELP };
  const { layout, node, store, namespace, json = false } = values;
  const wait = values["max-wait-ms"];
  const maxWaitMs = wait === undefined ? undefined : whole("gen", "--max-wait-ms", wait);
  const count = whole("gen", "-n/--count", values.count);
  return { verb: "gen", count, layout, node, store, namespace, maxWaitMs, json, format: form("gen", values.format) };
}

function inspect(words: string[]): Request {
  const { values, positionals } = parsed("inspect", words, { allowPositionals: true, options: COMMON });
  if (values.help) return { verb: "told", text: INSPECT_HELP };
  const { layout, json = false } = values;
  return { verb: "inspect", ids: positionals.map(shown), layout, json, format: form("inspect", values.format) };
}

function layouts(words: string[]): Request {
  const { help, json } = COMMON;
  const { values, positionals } = parsed("layouts", words, { allowPositionals: true, options: { help, json } });
  if (values.help) return { verb: "told", text: LAYOUTS_HELP };
  return { verb: "layouts", layouts: positionals.map(shown), json: values.json ?? false };
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
    // Its first sentence says what is wrong.
    throw mistake(shown((error as Error).message.split(/\.\s/)[0]!.replace(/\.$/, "")), verb);
  }
}

/** A negative number is no option: behind a blank parseArgs leaves it alone. */
const hidden = (word: string): string => (/^-\d+$/.test(word) ? ` ${word}` : word);
const shown = (word: string): string => word.replace(/^ (?=-\d+$)/, "");

function whole(verb: string, option: string, given: string): number {
  if (/^[0-9]+$/.test(given)) return Number(given);
  throw mistake(`${option}: a whole number from 0 on is needed, not '${shown(given)}'`, verb);
}

function form(verb: string, given: string | undefined): text.TextForm | undefined {
  const known = text.FORMS.find((form) => form === given);
  if (given === undefined || known) return known;
  throw mistake(`--format: invalid choice: '${given}' (choose from ${text.FORMS.join(", ")})`, verb);
}

function mistake(sentence: string, verb?: string): Mistake {
  return new Mistake(`${sentence} (see snowmint ${verb ? `${verb} ` : ""}--help)`);
}
