// The module of SQL, audits, and the output of the command line.
import module from "#wasm/reports";
import {
  betweenSql,
  candidates,
  decoded,
  decodeSql,
  defaults,
  FunctionOptions,
  initSync,
  instant,
  isVouched,
  Look,
  layoutPictures,
  layoutTable,
  mariadbFunction,
  Pile,
  postgresFunction,
  postgresWideFunction,
  start,
} from "../generated/reports.js";
import { startedLater } from "./start.js";

export type {
  FunctionOptions as WasmFunctionOptions,
  Look as WasmLook,
  Pile as WasmPile,
} from "../generated/reports.js";

/** The functions of the module. */
export const reports = /* @__PURE__ */ startedLater(
  {
    betweenSql,
    candidates,
    decoded,
    decodeSql,
    defaults,
    FunctionOptions,
    instant,
    isVouched,
    layoutPictures,
    layoutTable,
    Look,
    mariadbFunction,
    Pile,
    postgresFunction,
    postgresWideFunction,
  },
  initSync,
  start,
  module,
);
