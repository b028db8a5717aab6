// IDs as texts of fixed width, by the module that mints.
import type { Id } from "./input.js";
import type { FORMS } from "./names.js";
import { mint } from "./wasm/mint.js";

/** A fixed-width text form of a 64-bit ID. */
export type TextForm = (typeof FORMS)[number];

/** Refuses a name that no form has. */
export const checkForm = (form: TextForm): void => void encode(0n, form);

/** Writes an ID in a form. */
export const encode = (id: Id, form: TextForm): string => mint().writeText(id, String(form));

/** Reads a text of a form. */
export const decode = (text: string, form: TextForm): bigint => mint().readText(String(text), String(form));
