// Layouts and IDs as text of at most 80 columns where names are short. The output equals that of core/src/render.rs.
import type { Layout, Parts } from "../index.js";

/** Returns a headline in its style. */
export type Style = (headline: string) => string;

/** The parts of an ID, with their names in JSON. */
export interface Told {
  timestamp: string | null;
  timestamp_ms: number;
  tick: bigint;
  node: number;
  sequence: number;
  fields: Parts["fields"];
}

/** An ID under one layout. */
export type Decoded = Told & { id: string; layout: string };

/** A system that could have minted an ID: a layout with parts, or another kind of ID. */
export type Candidate = Partial<Told> & { layout: string | null; kind?: string; reason: string };

/** Returns an instant in RFC 3339, or null outside the years 1 to 9999. */
export function instant(ms: number): string | null {
  return ms >= -62_135_596_800_000 && ms < 253_402_300_800_000 ? new Date(ms).toISOString() : null;
}

/** Returns the properties of a layout, with their names in JSON. */
export function figures(layout: Layout): Record<string, unknown> {
  const { endsAtMs, signedUntilMs } = layout;
  return {
    name: layout.name,
    text: String(layout),
    bits: layout.bits,
    fields: layout.fields,
    epoch_ms: layout.epochMs,
    tick_ms: layout.tickMs,
    ends_at: instant(endsAtMs),
    ends_at_ms: endsAtMs,
    signed_until: signedUntilMs === null ? null : instant(signedUntilMs),
    signed_until_ms: signedUntilMs,
    js_safe: layout.jsSafe,
    nodes: layout.nodes,
    ids_per_tick: layout.idsPerTick,
    ids_per_second: layout.idsPerSecond,
  };
}

function when(ms: number | null): string {
  return ms === null ? "never" : (instant(ms) ?? "after 9999");
}

/** Returns an integer with a comma before each group of three digits. */
function grouped(integer: number | bigint): string {
  return String(BigInt(integer)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Returns the lines of a table with one line per layout. */
export function table(layouts: Layout[], style: Style): string[] {
  const row = (name: string, bits: string, nodes: string, rate: string, ends: string, signed: string): string =>
    `${name.padEnd(11)}  ${bits}  ${nodes.padStart(9)}  ${rate.padStart(10)}  ${ends.padEnd(10)}  ${signed}`;
  return [
    style(row("name", "bits".padEnd(16), "nodes", "IDs/s", "ends", "signed until")),
    ...layouts.map((layout) => {
      const [ends, signed] = [layout.endsAtMs, layout.signedUntilMs].map((ms) => when(ms).slice(0, 10));
      const bits = letters(layout).padStart(16);
      return row(layout.name ?? "", bits, grouped(layout.nodes), grouped(layout.idsPerSecond), ends!, signed!);
    }),
    "",
    "bits: T time, N node, S sequence, R random, a letter for 4. IDs/s: of each node.",
    "signed until: when IDs turn negative in a signed column.",
  ];
}

function letters({ fields, bits }: Layout): string {
  const known: Record<string, string> = { time: "T", sequence: "S", random: "R" };
  const all = Object.entries(fields).map(([name, width]) => (known[name] ?? "N").repeat(width));
  // One letter for each 4 bits, counted from the low end. The field of the third bit decides.
  const fromLow = [...all.join("").padStart(bits, ".")].reverse();
  return fromLow
    .filter((_, bit) => bit % 4 === 2)
    .reverse()
    .join("");
}

/** Returns the lines of a layout in detail, with one column per bit. */
export function picture(layout: Layout, style: Style): string[] {
  const fields = Object.entries(layout.fields);
  const unused = fields.reduce((left, [, width]) => left - width, layout.bits);
  const spans: [string, number][] = unused ? [["unused", unused], ...fields] : fields;
  let high = layout.bits;
  const rows = spans.map(([name, width]) => {
    high -= width;
    const where = width === 1 ? `bit ${high}` : `bits ${high} to ${high + width - 1}`;
    return `  ${name.padEnd(12)} ${String(width).padStart(2)}  ${where.padEnd(13)}  ${meaning(layout, name)}`.trimEnd();
  });
  return [
    style(layout.name ?? "layout"),
    String(layout),
    "",
    spans
      .map(([name, width]) => label(name, width))
      .join("")
      .trimEnd(),
    `${spans.map(([, width]) => "|".padEnd(width, "-")).join("")}|`,
    ...rows,
    "",
    `  ends          ${when(layout.endsAtMs)}`,
    `  signed until  ${when(layout.signedUntilMs)}`,
    `  nodes         ${grouped(layout.nodes)}`,
    `  IDs a second  ${grouped(layout.idsPerSecond)} of each node`,
    `  JavaScript    ${layout.jsSafe ? "a safe integer" : "a bigint"}`,
  ];
}

/** Returns a name in the middle of its field's columns, cut to the room. */
function label(name: string, width: number): string {
  const room = width - 1;
  const shown = name.slice(0, room);
  const blanks = room - shown.length;
  // An odd blank stands where Python's `center` puts it.
  const before = (blanks >> 1) + (blanks & room & 1);
  return ` ${shown.padStart(shown.length + before).padEnd(room)}`;
}

function meaning(layout: Layout, name: string): string {
  if (name === "time") {
    const text = String(layout);
    const tick = text.slice(text.lastIndexOf("=") + 1);
    return `ticks of ${tick} since ${instant(layout.epochMs) ?? `${layout.epochMs} ms`}`;
  }
  if (name === "sequence") return `${grouped(layout.idsPerTick)} a tick`;
  if (name === "random" || name === "unused") return "";
  return `0 to ${grouped((1n << BigInt(layout.fields[name]!)) - 1n)}`;
}

/** Returns the line of an ID under one layout. */
export function decoded(told: Decoded): string {
  return `${told.id}  ${parts(told)}`;
}

/** Returns the lines of an ID and its candidates, one or two for each candidate. */
export function candidates(found: { id: string; candidates: Candidate[] }, style: Style): string[] {
  const shown = found.candidates.flatMap((told) => {
    const name = (told.layout ?? told.kind ?? "").padEnd(11);
    if (!hasParts(told)) return [`  ${name}  ${told.reason}`];
    return [`  ${name}  ${parts(told)}`, `  ${" ".repeat(11)}  ${told.reason}`];
  });
  return [style(found.id), ...(shown.length ? shown : ["  nothing known to us looks like this"])];
}

function hasParts(told: Candidate): told is Candidate & Told {
  return told.fields !== undefined;
}

function parts({ timestamp, timestamp_ms, fields }: Told): string {
  const counters = ["sequence", "random"].filter((name) => name in fields);
  const nodes = Object.keys(fields).filter((name) => name !== "time" && !counters.includes(name));
  return [timestamp ?? `${timestamp_ms} ms`, ...[...nodes, ...counters].map((name) => `${name} ${fields[name]}`)].join(
    "  ",
  );
}
