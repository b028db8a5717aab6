//! `snowmint-bindgen MODULE NAME FOLDER`: writes the JavaScript `NAME.js`, its types, and the module that it starts,
//! `NAME_bg.wasm`. It stands for the command `wasm-bindgen`, whose version must be the one of the macros.

use std::env;
use std::error::Error;
use std::fs;

use wasm_bindgen_cli_support::{Bindgen, EncodeInto};

fn main() {
    let mut arguments = env::args().skip(1);
    let mut argument = |what| arguments.next().unwrap_or_else(|| panic!("missing: {what}"));
    let (module, name, folder) = (argument("MODULE"), argument("NAME"), argument("FOLDER"));
    if let Err(error) = write(&module, &name, &folder) {
        panic!("{name}: {error:#}");
    }
}

fn write(module: &str, name: &str, folder: &str) -> Result<(), Box<dyn Error>> {
    let mut bindgen = Bindgen::new();
    // Every supported host has `encodeInto`.
    bindgen.input_path(module).out_name(name).omit_default_module_path(true).encode_into(EncodeInto::Always);
    let mut output = bindgen.typescript(true).web(true)?.generate_output()?;
    // Names of imports end in hashes, which do not compress: 0.3 kB of a page. A number keeps the names apart as well.
    let mut names = Vec::new();
    for (number, import) in output.wasm_mut().imports.iter_mut().enumerate() {
        if let Some((stem, hash)) = import.name.rsplit_once('_').filter(|(_, hash)| hash.len() == 16) {
            names.push((format!("_{hash}: "), format!("_{number}: ")));
            import.name = format!("{stem}_{number}");
        }
    }
    output.emit(folder)?;
    let script = format!("{folder}/{name}.js");
    let text = fs::read_to_string(&script)?;
    fs::write(script, names.iter().fold(text, |text, (long, short)| text.replace(long, short)))?;
    Ok(())
}
