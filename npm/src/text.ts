import { type Id, putId } from "./convert.js";
import { check, core, getText, putText, words } from "./core.js";
import { errorOf } from "./errors.js";
import { NO_FORM } from "./generated/tables.js";
import { FORMS } from "./names.js";

export { FORMS };

/** A fixed-width text form of a 64-bit ID. */
export type TextForm = (typeof FORMS)[number];

/** Writes an ID zero-padded, so that text order is number order. */
export function encode(id: Id, form: TextForm): string {
  putId(id);
  return getText(check(core().wasm.text_encode(place(form))));
}

/** Reads an ID. Throws `INVALID_TEXT` for a wrong length, a character of no meaning, or more than 64 bits. */
export function decode(text: string, form: TextForm): bigint {
  check(core().wasm.text_decode(place(form), putText(text)));
  return words()[0]!;
}

/** The number of a form in core. */
function place(form: TextForm): number {
  const place = FORMS.indexOf(form);
  if (place < 0) throw errorOf(NO_FORM);
  return place;
}
