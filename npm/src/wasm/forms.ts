// The engine of text forms and scatter.
import module from "#wasm/forms";
import type * as Forms from "../generated/forms.wasm.js";
import { SENTENCES } from "../generated/tables.forms.js";
import { FORMS } from "../names.js";
import { type Engine, start, takeError } from "./engine.js";

let current: Engine<typeof Forms> | undefined;

/** The engine, made when first used. It keeps nothing, so each copy of this package has its own. */
export function forms(): Engine<typeof Forms> {
  return (current ??= start(module));
}

/** Returns a result, or throws the failure. The mark of a failure is the number of a text form. */
export function check(result: number): number {
  if (result < 0) throw takeError(forms(), (place, mark) => SENTENCES[place]!.replace("{f}", FORMS[mark]!));
  return result;
}
