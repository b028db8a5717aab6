//! Finds engine settings and places of files under which a store can lose confirmed writes.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use js_sys::Map;
use snowmint_core::durability::{Accepting, Engine, Finding, Refusal};
use snowmint_core::place::Facts;
use wasm_bindgen::prelude::wasm_bindgen;

/// The names of the options that accept an unsafe store, for the messages.
const ACCEPTING: Accepting = Accepting::JAVASCRIPT;

/// Returns the names of the settings of an engine that matter.
#[wasm_bindgen(js_name = engineSettings)]
pub fn engine_settings(engine: &str) -> Vec<String> {
    Engine::find(engine).into_iter().flat_map(Engine::settings).map(ToString::to_string).collect()
}

/// Returns the code and the message of the error that refuses unsafe settings; undefined for safe ones.
#[wasm_bindgen(js_name = refuseSettings)]
pub fn refuse_settings(engine: &str, found: &Map) -> Option<Vec<String>> {
    judged(
        engine,
        found,
        |engine, value| engine.refuse(value),
        |finding| [finding.kind().error_kind().code().to_string(), message(finding)].into(),
    )
}

/// Returns the message about settings by which a failover can lose confirmed writes; undefined for safe ones.
#[wasm_bindgen(js_name = standbyRisk)]
pub fn standby_risk(engine: &str, found: &Map) -> Option<String> {
    judged(engine, found, |engine, value| engine.standby_risk(value), message)
}

fn message(finding: &Finding<'_>) -> String {
    finding.refusal(&ACCEPTING).to_string()
}

/// Looks up the value of a setting by name.
type Value<'v, 'a> = &'v dyn Fn(&str) -> Option<&'a str>;

fn judged<T>(
    engine: &str,
    found: &Map,
    judge: impl for<'a> FnOnce(Engine, Value<'_, 'a>) -> Option<Finding<'a>>,
    convert: impl FnOnce(&Finding<'_>) -> T,
) -> Option<T> {
    let engine = Engine::find(engine)?;
    let value = |name: &str| found.get(&name.into()).as_string();
    let values: Vec<_> = engine.settings().filter_map(|name| Some((name, value(name)?))).collect();
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
    judge(engine, &value).map(|finding| convert(&finding))
}

/// Returns the text to append to an engine's error if it shows a wrong configuration; undefined for other errors.
#[wasm_bindgen]
pub fn misconfigured(engine: &str, code: &str, message: &str) -> Option<String> {
    Engine::find(engine)?.misconfigured(code, message).map(String::from)
}

/// Returns whether an error of an engine, by its code, says that another session was faster when tables are made.
#[wasm_bindgen(js_name = isOvertaken)]
pub fn is_overtaken(engine: &str, code: &str) -> bool {
    Engine::find(engine).is_some_and(|engine| engine.denial(code).is_overtaken())
}

/// Returns the message for any other finding.
#[wasm_bindgen(js_name = refusalOf)]
pub fn refusal_of(found: &str, cure: &str) -> String {
    Refusal { found, cure, option: ACCEPTING.lossy }.to_string()
}

/// Returns the message that refuses a place where a database can be lost, or that other processes cannot reach by the same path;
/// undefined for a safe place. The path has no links, and `mounts` are the lines of `mountinfo` for it.
#[wasm_bindgen(js_name = refusePlace)]
pub fn refuse_place(path: &str, mounts: &str, file_system: u32, is_directory: bool) -> Option<String> {
    let doubt = Facts { path, file_system, mounts, ..Facts::default() }.lossy()?;
    let doubt = doubt.called(if is_directory { "its directory" } else { "the file" });
    Some(doubt.refuse_named(ACCEPTING.lossy).to_string())
}
