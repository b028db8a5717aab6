// JSON with blanks after commas and colons, and integers of any size in full, as the other command lines write it.

/** Returns a value as JSON on one line. */
export function json(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Number.isInteger(value)) return String(BigInt(value as number));
  if (Array.isArray(value)) return `[${value.map(json).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${json(member)}`);
  return `{${members.join(", ")}}`;
}
