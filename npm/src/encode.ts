// IDs as texts of fixed width, by the module that mints.
import { errorOf } from "./errors.js";
import { NO_FORM, SENTENCES } from "./generated/tables.js";
import { FORMS } from "./names.js";
import { getText } from "./wasm/engine.js";
import { core } from "./wasm/mint.js";

/** A fixed-width text form of a 64-bit ID. */
export type TextForm = (typeof FORMS)[number];

/** Returns the number of a form in core. */
export function place(form: TextForm): number {
  const place = FORMS.indexOf(form);
  if (place < 0) throw errorOf(SENTENCES[NO_FORM]!);
  return place;
}

/** Writes an ID in a form. */
export const encode = (id: bigint, form: TextForm): string => getText(core(), core().wasm.text_encode(id, place(form)));
