//! Finds engine settings and places of files under which a store can lose confirmed writes.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in the glue")]
#![allow(clippy::cast_possible_truncation)]

use core::fmt::Write;

use glue::{Text, Told};
use snowmint_core::durability::{Accepting, Engine, Finding, Refusal};
use snowmint_core::place::Facts;

/// The names of the options that accept an unsafe store, for the sentences.
const ACCEPTING: Accepting = Accepting::JAVASCRIPT;

/// Splits a text into its first line and the other lines.
fn lines(told: &Told) -> (&str, &str) {
    told.text().split_once('\n').unwrap_or((told.text(), ""))
}

/// Writes the names of the settings that matter, one per line, of the engine named by the text. Returns their length.
#[unsafe(no_mangle)]
pub extern "C" fn settings(len: u32) -> u32 {
    let told = Told::take(len);
    let mut text = Text { len: 0 };
    for setting in Engine::find(lines(&told).0).into_iter().flat_map(Engine::settings) {
        // Writing into the buffer cannot fail.
        let _ = writeln!(text, "{setting}");
    }
    text.len as u32
}

/// Refuses unsafe settings. The text is an engine's name and lines `NAME=VALUE`. Returns the length of the sentence, or
/// 0.
#[unsafe(no_mangle)]
pub extern "C" fn refuse(len: u32) -> u32 {
    sentence(&Told::take(len), |engine, value| engine.refuse(value))
}

/// Refuses settings by which a failover can lose confirmed writes. Arguments and result as for `refuse`.
#[unsafe(no_mangle)]
pub extern "C" fn standby_risk(len: u32) -> u32 {
    sentence(&Told::take(len), |engine, value| engine.standby_risk(value))
}

/// Looks up the value of a setting by name.
type Value<'v, 'a> = &'v dyn Fn(&str) -> Option<&'a str>;

fn sentence<'a>(told: &'a Told, judge: impl FnOnce(Engine, Value<'_, 'a>) -> Option<Finding<'a>>) -> u32 {
    let (engine, settings) = lines(told);
    let value = |name: &str| {
        settings
            .lines()
            .find_map(|line| line.split_once('=').filter(|(known, _)| *known == name).map(|(_, value)| value))
    };
    let mut text = Text { len: 0 };
    // `Told` empties a text that did not fit, and such a text names no engine.
    match Engine::find(engine).map(|engine| judge(engine, &value)) {
        Some(None) => {}
        Some(Some(finding)) => drop(write!(text, "{}", finding.refusal(&ACCEPTING))),
        None => drop(write!(text, "the engine's settings are too long to be checked")),
    }
    text.len as u32
}

/// Returns whether an error of an engine means that the store cannot work as it is configured. The text is the engine's name,
/// the code and the sentence, one per line.
#[unsafe(no_mangle)]
pub extern "C" fn misconfigured(len: u32) -> u32 {
    let told = Told::take(len);
    let (engine, error) = lines(&told);
    let (code, sentence) = error.split_once('\n').unwrap_or((error, ""));
    u32::from(Engine::find(engine).is_some_and(|engine| engine.is_misconfigured(code, sentence)))
}

/// Writes the sentence for any other finding. The text is the finding and its cure, one per line. Returns the length.
#[unsafe(no_mangle)]
pub extern "C" fn refusal(len: u32) -> u32 {
    let told = Told::take(len);
    let (found, cure) = lines(&told);
    let mut text = Text { len: 0 };
    let _ = write!(text, "{}", Refusal { found, cure, option: ACCEPTING.lossy });
    text.len as u32
}

/// Refuses a place where a database can be lost, or that other processes cannot reach by the same path. The text is a
/// path without links and the lines of `mountinfo` for that path. `file_system` is the number of its file system;
/// `directory` is not 0 for the directory of a file. Returns the length of the sentence, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn place(len: u32, file_system: u32, directory: u32) -> u32 {
    let told = Told::take(len);
    // Even if the text did not fit and is empty, the file system counts.
    let (path, mounts) = lines(&told);
    let doubt = Facts { path, file_system, mounts, ..Facts::default() }.lossy();
    let mut text = Text { len: 0 };
    if let Some(doubt) = doubt {
        let doubt = doubt.called(if directory == 0 { "the file" } else { "its directory" });
        let _ = write!(text, "{}", doubt.refuse_named(ACCEPTING.lossy));
    }
    text.len as u32
}
