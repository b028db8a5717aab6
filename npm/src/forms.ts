// The engine of text forms and scatter.
import { formsModule } from "#host";
import { type Engine, start } from "./engine.js";
import { failure } from "./failure.js";
import type * as Forms from "./generated/forms.wasm.js";
import { FORM_SENTENCES } from "./generated/tables.js";
import { FORMS } from "./names.js";

let current: Engine<typeof Forms> | undefined;

/** The engine, made when first used. It keeps nothing, so each copy of this package has its own. */
export function forms(): Engine<typeof Forms> {
  return (current ??= start(formsModule));
}

/** A result that is no failure. Of a text form the mark is its number. */
export function check(result: number): number {
  if (result < 0) throw failure(forms(), (place, mark) => FORM_SENTENCES[place]!.replace("{f}", FORMS[mark]!));
  return result;
}
