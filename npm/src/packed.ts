// The modules as bytes in the bundle. A bundler leaves out those that nothing uses.
import { packed as forms } from "./generated/forms.js";
import { packed as inspect } from "./generated/inspect.js";
import { packed as mint } from "./generated/mint.js";
import { packed as wide } from "./generated/wide.js";
import { unpack } from "./unpack.js";

export const mintModule = (): WebAssembly.Module => new WebAssembly.Module(unpack(...mint));
export const formsModule = (): WebAssembly.Module => new WebAssembly.Module(unpack(...forms));
export const inspectModule = (): WebAssembly.Module => new WebAssembly.Module(unpack(...inspect));
export const wideModule = (): WebAssembly.Module => new WebAssembly.Module(unpack(...wide));
