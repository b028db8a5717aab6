import type { Id } from "./convert.js";
import { getText, putInteger, putText, words } from "./engine.js";
import { errorOf } from "./errors.js";
import { check, forms } from "./forms.js";
import { frozen } from "./frozen.js";
import { FORM_SENTENCES, NO_FORM } from "./generated/tables.js";
import { TEXT } from "./memory.js";
import { FORMS } from "./names.js";

/** A fixed-width text form of a 64-bit ID. */
export type TextForm = (typeof FORMS)[number];
type Form = TextForm;

/** The fixed-width text forms. An object and not `export *`, so that bundlers can leave it out. */
export const text = /* @__PURE__ */ frozen({
  /** The names of the forms: of 20, 16, 13, 13, 11 and 11 characters. */
  FORMS,
  /** Writes an ID zero-padded, so that text order is number order. */
  encode(id: Id, form: TextForm): string {
    const engine = forms();
    putInteger(engine, 0, id);
    return getText(engine, check(engine.wasm_.text_encode_(place(form))));
  },
  /** Reads an ID. Throws `INVALID_TEXT` for a wrong length, a character of no meaning, or more than 64 bits. */
  decode(text: string, form: TextForm): bigint {
    const engine = forms();
    const given = String(text);
    const length = putText(engine, given);
    // One that has no room there is counted here.
    check(engine.wasm_.text_decode_(place(form), length, length > TEXT ? [...given].length : 0));
    return words(engine)[0]!;
  },
});
export declare namespace text {
  /** A fixed-width text form of a 64-bit ID. */
  type TextForm = Form;
}

/** The number of a form in core. */
function place(form: TextForm): number {
  const place = FORMS.indexOf(form);
  if (place < 0) throw errorOf(FORM_SENTENCES[NO_FORM]!);
  return place;
}
