// snowmint/audit: why a pile of IDs has duplicates.
import { duration, type Id, type Instant, type Owner, read, unixMs } from "../input.js";
import type { Layout } from "../layout/layout.js";
import type { WasmPile } from "../wasm/reports.js";
import { Pile } from "./pile.js";

/**
 * What an audit can find: the layout's time ran over; IDs passed through a double; bits outside of the layout; a time before
 * `since`, or after `until`; a forked child minted too; two processes shared a node; a clock stepped back; a sequence wrapped
 * within a tick; IDs occur more than once.
 */
export type AuditKind =
  | "layout_ended"
  | "truncated"
  | "outside"
  | "before_begin"
  | "future"
  | "forked"
  | "shared_node"
  | "clock_back"
  | "wrapped"
  | "duplicates";

/** The order of the IDs: as they were written down, sorted, or none. */
export type AuditOrder = "written" | "ascending" | "descending" | "unordered";

/** What an audit goes by, besides the layout. */
export interface AuditOptions {
  /** When the system began, a Date or Unix ms: earlier IDs are findings. The epoch if missing. */
  since?: Instant | undefined;
  /** Later IDs are in the future. A minute from now if missing. */
  until?: Instant | undefined;
  /** How late an ID is written down at most, in ms: smaller steps back are no finding. 10 if missing. */
  jitterMs?: number | undefined;
  /** True: the IDs stand in no order, and findings that need one are left out. */
  unordered?: boolean | undefined;
}

const OPTIONS: Owner = {
  of: "audit",
  names: Object.keys({ since: 0, until: 0, jitterMs: 0, unordered: 0 } satisfies Record<keyof AuditOptions, 0>),
};

/** What an audit saw of one node. */
export interface AuditNode {
  /** The node: all node fields, concatenated high to low. */
  node: number;
  /** The number of its IDs. */
  ids: number;
  /** The time of its earliest ID, Unix ms. */
  fromMs: number;
  /** The time of its latest ID, Unix ms. */
  toMs: number;
  /** IDs a second, from the earliest ID to the latest. */
  idsPerSecond: number;
}

/** A finding in the JSON of a report, the same in every language. */
interface FindingJson {
  kind: AuditKind;
  node: number | null;
  ids: number;
  repeated: number;
  times: number;
  by_ms: number;
  id: string;
  line: number;
  from_ms: number | null;
  to_ms: number | null;
  before: number;
  explained: number;
  told: string;
  cure: string;
}

/** The JSON of a report, the same in every language. */
interface ReportJson {
  layout: string;
  ids: number;
  unreadable: number;
  order: AuditOrder;
  nodes: { node: number; ids: number; from_ms: number; to_ms: number; ids_per_second: number }[];
  findings: FindingJson[];
}

/** One finding of an audit. Its text is a sentence. */
export class AuditFinding {
  /** The kind. */
  readonly kind: AuditKind;
  /** The node, or null if the finding is about all IDs. */
  readonly node: number | null;
  /** The number of IDs that show the fault. */
  readonly ids: number;
  /** The number of IDs that occur more than once because of the fault. */
  readonly repeated: number;
  /** How often it happened: steps of a clock, ticks with a wrapped sequence, or surplus occurrences of duplicates. */
  readonly times: number;
  /** The length of the longest step back, ms. */
  readonly byMs: number;
  /** The first ID that shows the fault. */
  readonly id: bigint;
  /** The place of that ID among the IDs, from 1: its line, if each line is an ID. */
  readonly line: number;
  /** The time of the first ID that shows the fault, Unix ms; null without a time. */
  readonly fromMs: number | null;
  /** The time of the last ID that shows the fault, Unix ms; null without a time. */
  readonly toMs: number | null;
  /** The IDs of the node before the second process came, if the order shows them. */
  readonly before: number;
  /** What happened: a sentence. */
  readonly told: string;
  /** What would have prevented it. */
  readonly cure: string;
  readonly #json: FindingJson;

  /** @internal */
  constructor(json: FindingJson) {
    this.kind = json.kind;
    this.node = json.node;
    this.ids = json.ids;
    this.repeated = json.repeated;
    this.times = json.times;
    this.byMs = json.by_ms;
    this.id = BigInt(json.id);
    this.line = json.line;
    this.fromMs = json.from_ms;
    this.toMs = json.to_ms;
    this.before = json.before;
    this.told = json.told;
    this.cure = json.cure;
    this.#json = json;
  }

  /** What happened: a sentence. */
  toString(): string {
    return this.told;
  }

  /** The finding as in the JSON of the command line. */
  toJSON(): unknown {
    return this.#json;
  }
}

/**
 * What an audit found. Its text is the report of the command line, and `JSON.stringify` writes the object that
 * `snowmint audit --json` prints, the same in every language.
 */
export class AuditReport {
  /** The number of IDs. */
  readonly ids: number;
  /** The order of the IDs. */
  readonly order: AuditOrder;
  /** The nodes, ascending. */
  readonly nodes: readonly AuditNode[];
  /** The findings, in the order of their kinds and nodes. */
  readonly findings: readonly AuditFinding[];
  readonly #json: ReportJson;
  readonly #text: string;
  readonly #svg: string;

  /** @internal */
  constructor(report: WasmPile) {
    // All forms, because the memory of the IDs is free then.
    this.#text = report.text(false);
    this.#svg = report.svg();
    this.#json = JSON.parse(report.json());
    const idsPerSecond = report.idsPerSecond;
    report.free();
    const { ids, order, nodes, findings } = this.#json;
    this.ids = ids;
    this.order = order;
    this.nodes = nodes.map(({ node, ids, from_ms, to_ms }, at) => {
      return { node, ids, fromMs: from_ms, toMs: to_ms, idsPerSecond: idsPerSecond[at]! };
    });
    this.findings = findings.map((each) => new AuditFinding(each));
  }

  /** A picture of the nodes over time, with the findings marked: SVG for light and dark pages. */
  svg(): string {
    return this.#svg;
  }

  /** The report as text. */
  toString(): string {
    return this.#text;
  }

  /** The report as the object of the command line's JSON. */
  toJSON(): unknown {
    return this.#json;
  }
}

/**
 * Says why IDs repeat, and what else is wrong with them.
 *
 * The IDs stand in the order in which they were written down: an iterable of bigints, decimal strings or safe integers, or a
 * `BigUint64Array` or `BigInt64Array`, which is read ten times as fast. A negative ID is the signed form of the same bits. The
 * layout is a name of a preset, a text or a `Layout`; `"snowmint"` if missing.
 *
 * Each ID takes 16 bytes until the report is ready. The call blocks: 10,000,000 IDs take some seconds, so a page should audit
 * so many in a worker.
 *
 * Throws `INVALID_LAYOUT`; `INVALID_ID` for an ID outside of -2^63 to 2^64-1 and for an unsafe number, whose digits are lost;
 * TypeError if `ids` cannot be iterated or is a text.
 *
 * @example
 * const report = audit(ids, "twitter");
 * for (const finding of report.findings) console.log(`${finding.kind}: ${finding}. Prevented by ${finding.cure}.`);
 */
export function audit(
  ids: Iterable<Id>,
  layout: Layout | string = "snowmint",
  options: AuditOptions = {},
): AuditReport {
  const pile = begun(layout, options);
  if (isArray(ids)) pile.addArray(ids);
  else for (const id of iterable(ids)) pile.add(id);
  return ended(pile);
}

/**
 * Does the same for IDs that arrive one after the other, such as lines of a stream or rows of a query, without an array of all.
 *
 * Throws as `audit`. Errors of the iterable come through unchanged.
 *
 * @example
 * const report = await auditAsync(createInterface({ input: createReadStream("ids.txt") }), "twitter"); // node:readline
 */
export async function auditAsync(
  ids: AsyncIterable<Id> | Iterable<Id>,
  layout: Layout | string = "snowmint",
  options: AuditOptions = {},
): Promise<AuditReport> {
  if (!(Symbol.asyncIterator in Object(ids))) return audit(ids as Iterable<Id>, layout, options);
  const pile = begun(layout, options);
  for await (const id of ids) pile.add(id);
  return ended(pile);
}

function begun(layout: Layout | string, options: AuditOptions): Pile {
  const { since, until, jitterMs, unordered } = read(options, OPTIONS);
  return new Pile({
    layout: String(layout),
    sinceMs: since === undefined ? since : unixMs(since),
    untilMs: until === undefined ? until : unixMs(until),
    jitterMs: jitterMs === undefined ? jitterMs : duration("jitterMs", jitterMs),
    unordered,
  });
}

function ended(pile: Pile): AuditReport {
  return new AuditReport(pile.end());
}

const isArray = (ids: unknown): ids is BigUint64Array | BigInt64Array =>
  ids instanceof BigUint64Array || ids instanceof BigInt64Array;

/** Returns what can be iterated. A text would be read as IDs of one digit. */
function iterable(ids: Iterable<Id>): Iterable<Id> {
  if (typeof ids === "object" && ids !== null && Symbol.iterator in ids) return ids;
  throw new TypeError(`audit takes an iterable of IDs, such as an array or a BigUint64Array, not ${String(ids)}`);
}
