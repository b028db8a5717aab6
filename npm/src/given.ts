// What the main part hands to the one that leases.
import { wasmCell } from "./cell.js";
import { duration } from "./convert.js";
import { core, realm } from "./core.js";
import { bytes, start, utf8, words } from "./engine.js";
import { errorOf, SnowmintError } from "./errors.js";
import { failure } from "./failure.js";
import { SENTENCES } from "./generated/tables.js";
import type { Kit } from "./kit.js";
import { Layout } from "./layout.js";
import { monotonicMs } from "./monotonic.js";
import { Patience } from "./patience.js";

export const given = (): Kit => [
  core,
  realm,
  wasmCell,
  duration,
  Layout,
  SnowmintError,
  errorOf,
  failure,
  start,
  words,
  bytes,
  SENTENCES,
  utf8,
  Patience,
  monotonicMs,
];
