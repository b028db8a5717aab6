// What the bindings generator and the hosts provide without declarations.

declare module "*/snowmint_wasm_bg.js" {
  export function __wbg_set_wasm(wasm: unknown): void;
  export function __wbindgen_init_externref_table(): void;
}

declare module "*/snowmint.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
