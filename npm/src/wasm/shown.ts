// Shows texts of others, such as messages of servers, in errors.
import module from "#wasm/shown";
import type * as Module from "../generated/shown.wasm.js";
import { type Engine, type Exports, getText, start } from "./engine.js";

let current: Engine<typeof Module> | undefined;

/** Returns a text with its control and format characters escaped, as core shows texts that another party wrote. */
export const shown = (text: string): string => shownBy(() => (current ??= start<typeof Module>(module)), text);

/** As `shown`, by a module that is loaded for other purposes too. It is started when a text needs it. */
export const shownBy = (engine: () => Engine<Exports & { shown(code: number): number }>, text: string): string =>
  text.replace(/[^ -~]/gu, (letter) => {
    const length = engine().wasm.shown(letter.codePointAt(0)!);
    return length ? getText(engine(), length) : letter;
  });
