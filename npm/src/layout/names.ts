// Names of core.

/** The names of all presets, in the order of the documentation. */
export const PRESETS = [
  "snowmint",
  "twitter",
  "discord",
  "instagram",
  "sonyflake",
  "sonyflake2",
  "leaf",
  "baidu",
  "cosid",
  "mastodon",
  "yitter",
  "gosnowflake",
  "callicoder",
  "iteye",
  "safe53",
] as const;
export type Preset = (typeof PRESETS)[number];

/** The fixed-width text forms: 20, 16, 13, 13, 11 and 11 characters. */
export const FORMS = ["decimal", "hex", "base32", "base36", "base58", "base62"] as const;

/** Where the sequence may begin in a new tick. */
export const STARTS = ["zero", "random", "carry"] as const;
