// What is put beside a bundle for edge runtimes: its bundler, or the runtime itself, makes a module of it.
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
