// Instants and numbers as people read them: in UTC, in English.

const UNITS = [
  ["year", 31_557_600_000],
  ["month", 2_629_800_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
] as const;
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const number = new Intl.NumberFormat("en");

/** The last Unix ms that a Date reaches. */
const LAST_MS = 8.64e15;

/** A number with commas. */
export function grouped(value: number | bigint): string {
  return number.format(value);
}

/** `2022-06-28 16:07:40.105`, in UTC; beyond what a Date holds, how many Unix ms. */
export function utc(ms: number): string {
  if (Math.abs(ms) > LAST_MS) return `${grouped(ms)} ms after 1970`;
  const [date, time] = new Date(ms).toISOString().split("T") as [string, string];
  return `${day(date)} ${time.replace("Z", "")}`;
}

/** `2022-06-28`, in UTC; beyond what a Date holds, in words. */
export function utcDay(ms: number): string {
  if (Math.abs(ms) > LAST_MS) return "after the year 275760";
  return day(new Date(ms).toISOString().split("T")[0]!);
}

/** ISO 8601 writes years of more than four digits with a sign and zeros. */
function day(date: string): string {
  return date.replace(/^\+0*/, "");
}

/** `4 years ago`, `in 3 days`. */
export function sinceNow(ms: number, nowMs: number): string {
  const span = ms - nowMs;
  const [unit, length] = UNITS.find(([, length]) => Math.abs(span) >= length) ?? ["second", 1000];
  if (Math.abs(span) < 1000) return "now";
  return relative.format(Math.trunc(span / length), unit);
}

/** Makes an element that shows an instant. */
export function timeElement(ms: number): HTMLElement {
  const made = document.createElement("time");
  if (ms >= -62_135_596_800_000 && ms < 253_402_300_800_000) made.dateTime = new Date(ms).toISOString();
  made.textContent = `${utc(ms)} UTC`;
  return made;
}
