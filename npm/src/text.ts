import { decode, encode, type TextForm } from "./encode.js";
import { frozen } from "./frozen.js";
import type { Id } from "./input.js";
import { FORMS } from "./names.js";

type Form = TextForm;

/** The fixed-width text forms. An object and not `export *`, so that bundlers can leave it out. */
export const text = /* @__PURE__ */ frozen({
  /** The names of the forms: of 20, 16, 13, 13, 11 and 11 characters. */
  FORMS,
  /** Writes an ID zero-padded, so that text order is number order. */
  encode: (id: Id, form: TextForm): string => encode(id, form),
  /** Reads an ID. Throws `INVALID_TEXT` for a wrong length, a character of no meaning, or more than 64 bits. */
  decode: (text: string, form: TextForm): bigint => decode(text, form),
});
export declare namespace text {
  /** A fixed-width text form of a 64-bit ID. */
  type TextForm = Form;
}
