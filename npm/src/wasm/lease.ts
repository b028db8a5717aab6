// The module of leases.
import module from "#wasm/lease";
import {
  checkNode,
  checkWindow,
  disorderMs,
  initSync,
  isHeld,
  isVersion,
  isVouched,
  Lease,
  lessorAheadUs,
  namespaceKey,
  nodeField,
  nodes,
  notAVersion,
  notSnowmint,
  recounted,
  refuseReserve,
  renewalPauseMs,
  serviceRefusals,
  shown,
  start,
  tokenRefused,
} from "../generated/lease.js";
import { startedLater } from "./start.js";

export type { Lease as WasmLease, Step } from "../generated/lease.js";

/** The functions of the module. */
export const lease = /* @__PURE__ */ startedLater(
  {
    checkNode,
    checkWindow,
    disorderMs,
    isHeld,
    isVersion,
    isVouched,
    Lease,
    lessorAheadUs,
    namespaceKey,
    nodeField,
    nodes,
    notAVersion,
    notSnowmint,
    recounted,
    refuseReserve,
    renewalPauseMs,
    serviceRefusals,
    shown,
    tokenRefused,
  },
  initSync,
  start,
  module,
);
