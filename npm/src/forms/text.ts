// IDs as texts of fixed width, by the module that mints.
import { digits, frozen, type Id } from "../input.js";
import { FORMS } from "../layout/names.js";
import { mint } from "../wasm/mint.js";

/** A fixed-width text form of a 64-bit ID. */
export type TextForm = (typeof FORMS)[number];
type Form = TextForm;

/** Refuses a name that no form has. */
export const checkForm = (form: TextForm): void => void encode(0n, form);

/** Writes an ID in a form. */
export const encode = (id: Id, form: TextForm): string => mint().writeText(digits(id), String(form));

/** Reads a text of a form. */
const decode = (text: string, form: TextForm): bigint => mint().readText(String(text), String(form));

/** The fixed-width text forms. An object and not `export *`, so that bundlers can leave it out. */
export const text = /* @__PURE__ */ frozen({
  /** The names of the forms: of 20, 16, 13, 13, 11 and 11 characters. */
  FORMS,
  /** Writes an ID zero-padded, so that text order is number order. */
  encode,
  /** Reads an ID. Throws `INVALID_TEXT` for a wrong length, a character of no meaning, or more than 64 bits. */
  decode,
});
export declare namespace text {
  /** A fixed-width text form of a 64-bit ID. */
  type TextForm = Form;
}
