// The module of layouts as SQL.
import module from "#wasm/sql";
import {
  betweenSql,
  decodeSql,
  FunctionOptions,
  initSync,
  mariadbFunction,
  postgresFunction,
  postgresWideFunction,
  start,
} from "../generated/sql.js";
import { startedLater } from "./start.js";

export type { FunctionOptions as WasmFunctionOptions } from "../generated/sql.js";

/** The functions of the module. */
export const sql = /* @__PURE__ */ startedLater(
  {
    betweenSql,
    decodeSql,
    FunctionOptions,
    mariadbFunction,
    postgresFunction,
    postgresWideFunction,
  },
  initSync,
  start,
  module,
);
