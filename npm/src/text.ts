import type { Id } from "./convert.js";
import { getText, putInteger, putText, words } from "./engine.js";
import { errorOf } from "./errors.js";
import { check, forms } from "./forms.js";
import { FORM_SENTENCES, NO_FORM } from "./generated/tables.js";
import { FORMS } from "./names.js";

export { FORMS };

/** A fixed-width text form of a 64-bit ID. */
export type TextForm = (typeof FORMS)[number];

/** Writes an ID zero-padded, so that text order is number order. */
export function encode(id: Id, form: TextForm): string {
  const engine = forms();
  putInteger(engine, 0, id);
  return getText(engine, check(engine.wasm_.text_encode_(place(form))));
}

/** Reads an ID. Throws `INVALID_TEXT` for a wrong length, a character of no meaning, or more than 64 bits. */
export function decode(text: string, form: TextForm): bigint {
  const engine = forms();
  check(engine.wasm_.text_decode_(place(form), putText(engine, String(text))));
  return words(engine)[0]!;
}

/** The number of a form in core. */
function place(form: TextForm): number {
  const place = FORMS.indexOf(form);
  if (place < 0) throw errorOf(FORM_SENTENCES[NO_FORM]!);
  return place;
}
