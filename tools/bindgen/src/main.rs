//! `snowmint-bindgen MODULE.wasm OUT_DIR`: the JavaScript side of the wasm module, and of core's errors.

use std::path::Path;
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
            .generate(out_dir)?;
        std::fs::write(Path::new(out_dir).join("sentences.js"), sentences())?;
        Ok::<(), Box<dyn std::error::Error>>(())
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("snowmint-bindgen: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The codes and sentences of core's errors as a module. JavaScript fills them in itself, so that the wasm module needs
/// no texts.
fn sentences() -> String {
    let rows = snowmint_core::sentences().map(|(code, sentence)| format!("  {:?},\n", format!("{code} {sentence}")));
    format!(
        "/** \"CODE sentence\", in the order of core's errors. */\nexport const sentences = [\n{}];\n",
        rows.collect::<String>()
    )
}
