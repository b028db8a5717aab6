//! `snowmint-bindgen MODULE.wasm OUT_DIR`: the JavaScript side of a wasm-bindgen module.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, out_dir] = arguments.as_slice() else {
        eprintln!("usage: snowmint-bindgen MODULE.wasm OUT_DIR");
        return ExitCode::from(2);
    };
    let run = || {
        Bindgen::new()
            .input_path(module)
            .bundler(true)?
            .typescript(true)
            .remove_name_section(true)
            .remove_producers_section(true)
            .generate(out_dir)
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("snowmint-bindgen: {error:#}");
            ExitCode::FAILURE
        }
    }
}
