// The module of UUIDs and their like, of what reads and moves IDs, and of the settings of stores.
import module from "#wasm/tools";
import {
  bytesOfId,
  customUuid,
  engineSettings,
  idOfPrefixed,
  initSync,
  inspect,
  isMisconfigured,
  isPrefixedUuid,
  ksuidOf,
  Mask,
  Minter,
  namedUuid,
  objectIdOf,
  poolSize,
  prefixedId,
  prefixedUuid,
  refusalOf,
  refusePlace,
  refuseSettings,
  reverseBits,
  rotateDigits,
  shardHigh,
  shortUuid,
  standbyRisk,
  start,
  swappedUuid,
  textOfId,
  timeOfId,
  typeIdParts,
  ulidOf,
  ulidRandomness,
  unrotateDigits,
  UuidMask,
  unshardHigh,
  uuid7Range,
  uuidClockSequence,
  uuidLocal,
  uuidNode,
  uuidOfPrefixed,
  uuidOfShort,
  uuidOfSwapped,
  uuidVersion,
  xidParts,
} from "../generated/tools.js";
import { startedLater } from "./start.js";

export type { Mask as WasmMask, Minter as WasmMinter, UuidMask as WasmUuidMask } from "../generated/tools.js";
export { Kind, Minted } from "../generated/tools.js";

/** The functions of the module. */
export const tools = /* @__PURE__ */ startedLater(
  { UuidMask, bytesOfId, customUuid, engineSettings, idOfPrefixed, inspect, isMisconfigured, isPrefixedUuid, ksuidOf, Mask, Minter, namedUuid, objectIdOf, poolSize, prefixedId, prefixedUuid, refusalOf, refusePlace, refuseSettings, reverseBits, rotateDigits, shardHigh, shortUuid, standbyRisk, swappedUuid, textOfId, timeOfId, typeIdParts, ulidOf, ulidRandomness, unrotateDigits, unshardHigh, uuid7Range, uuidClockSequence, uuidLocal, uuidNode, uuidOfPrefixed, uuidOfShort, uuidOfSwapped, uuidVersion, xidParts },
  initSync,
  start,
  module,
);
