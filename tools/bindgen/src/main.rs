//! `snowmint-bindgen MODULE NAME FOLDER`: writes the JavaScript `NAME.js`, its types, and the module that it starts,
//! `NAME_bg.wasm`. It replaces the command `wasm-bindgen`, whose version must be the one of the macros.

use std::env;

use wasm_bindgen_cli_support::{Bindgen, EncodeInto};

fn main() {
    let mut arguments = env::args().skip(1);
    let mut argument = |what| arguments.next().unwrap_or_else(|| panic!("missing: {what}"));
    let (module, name, folder) = (argument("MODULE"), argument("NAME"), argument("FOLDER"));
    let mut bindgen = Bindgen::new();
    let bindgen = bindgen.input_path(module).out_name(&name).omit_default_module_path(true).typescript(true);
    // Every supported host has `encodeInto`.
    let bindgen = bindgen.encode_into(EncodeInto::Always);
    let written = bindgen.web(true).and_then(|bindgen| bindgen.generate(folder));
    if let Err(error) = written {
        panic!("{name}: {error:#}");
    }
}
