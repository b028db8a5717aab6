import { encode, place, type TextForm } from "./encode.js";
import { frozen } from "./frozen.js";
import type { Id } from "./input.js";
import { FORMS } from "./names.js";
import { putInteger, putText, TEXT, words } from "./wasm/engine.js";
import { check, forms } from "./wasm/forms.js";

type Form = TextForm;

/** The fixed-width text forms. An object and not `export *`, so that bundlers can leave it out. */
export const text = /* @__PURE__ */ frozen({
  /** The names of the forms: of 20, 16, 13, 13, 11 and 11 characters. */
  FORMS,
  /** Writes an ID zero-padded, so that text order is number order. */
  encode(id: Id, form: TextForm): string {
    // Before the ID, as in every language.
    place(form);
    const engine = forms();
    putInteger(engine, 0, id);
    check(engine.wasm.text_id());
    return encode(words(engine)[0]!, form);
  },
  /** Reads an ID. Throws `INVALID_TEXT` for a wrong length, a character of no meaning, or more than 64 bits. */
  decode(text: string, form: TextForm): bigint {
    const engine = forms();
    const given = String(text);
    const length = putText(engine, given);
    // Core counts no text that is longer than the buffer.
    check(engine.wasm.text_decode(place(form), length, length > TEXT ? [...given].length : 0));
    return words(engine)[0]!;
  },
});
export declare namespace text {
  /** A fixed-width text form of a 64-bit ID. */
  type TextForm = Form;
}
