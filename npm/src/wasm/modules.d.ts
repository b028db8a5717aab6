// The build resolves these names: to a text that the bundle imports, or in edge runtimes to the module itself.
declare module "#wasm/*" {
  const source: string | WebAssembly.Module;
  export default source;
}
