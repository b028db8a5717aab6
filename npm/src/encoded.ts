// The modules as bytes in the bundle, for hosts where it is read from a disk: there time counts, and bytes do not.
import { Buffer } from "node:buffer";
import { encoded as forms } from "./generated/forms.js";
import { encoded as inspect } from "./generated/inspect.js";
import { encoded as mint } from "./generated/mint.js";
import { encoded as wide } from "./generated/wide.js";

/** The module of a text. */
export const decoded = (text: string): WebAssembly.Module => new WebAssembly.Module(Buffer.from(text, "base64"));

export const mintModule = (): WebAssembly.Module => decoded(mint);
export const formsModule = (): WebAssembly.Module => decoded(forms);
export const inspectModule = (): WebAssembly.Module => decoded(inspect);
export const wideModule = (): WebAssembly.Module => decoded(wide);
