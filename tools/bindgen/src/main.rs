//! `snowmint-bindgen MODULE.wasm OUT_DIR`: the types of the wasm module, and core's tables for JavaScript.

use std::path::Path;
use std::process::ExitCode;

use snowmint_core::{Error, ErrorKind, Layout, Options, TextForm, layouts};
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
        std::fs::write(Path::new(out_dir).join("tables.ts"), tables())?;
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

/// What JavaScript looks up itself, so that the wasm module needs no texts: the sentences of errors and the texts of
/// presets; and what it would otherwise have to ask for.
fn tables() -> String {
    let place = |error: Option<Error>| error.map_or(0, |error| error.to_words()[0]);
    let defaults = |options: Options| format!("[{}, {}]", options.max_ahead_ms, options.max_wait_ms);
    // What cannot come up there keeps its place, without a text: the module has no windows that end, and no forks.
    // The rows after that of a text with too large a number are of machines that the module does not have.
    let last = place(TextForm::Decimal.decode("99999999999999999999").err());
    let sentences = snowmint_core::sentences().zip(0..=last).map(|((code, sentence), at)| {
        let unending = code == ErrorKind::WindowClosed.code() && at != place(Some(Error::closed()));
        let sentence = if unending || code == ErrorKind::Forked.code() { "" } else { sentence };
        format!("  {:?},\n", format!("{code} {sentence}"))
    });
    let presets = layouts::all().map(|(name, layout)| format!("  {name}: \"{layout}\",\n"));
    format!(
        r#"// Generated from core by tools/bindgen.

/** "CODE sentence", in the order of core's errors. */
export const SENTENCES = [
{}];

/** The places there of errors that come up outside core. */
export const CLOSED = {};
export const NODE_NEEDED = {};
export const NO_PRESET = {};
export const NO_FORM = {};

/** `maxAheadMs` and `maxWaitMs` where a caller gives none, for hosts that can block and for others. */
export const DEFAULTS = {} as const;
export const NONBLOCKING = {} as const;

/** The texts of the presets by name, in the order of the documentation. */
export const PRESETS = {{
{}}} as const;
"#,
        sentences.collect::<String>(),
        place(Some(Error::closed())),
        place(Some(Error::node_needed())),
        place(Layout::preset("").err()),
        place(TextForm::find("").err()),
        defaults(Options::DEFAULT),
        defaults(Options::NONBLOCKING),
        presets.collect::<String>(),
    )
}
