// workerd and edge runtimes, which refuse to compile bytes: the module is a file, imported as they want it.
import sql from "./sql.wasm";

export const sqlModule = (): WebAssembly.Module => sql;
