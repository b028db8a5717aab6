//! Whether an engine's settings keep what it confirms, for the stores.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in the glue")]
#![allow(clippy::cast_possible_truncation)]

use core::fmt::Write;

use glue::{Text, Told};
use snowmint_core::durability::{Accepting, Engine, Finding, Refusal};
use snowmint_core::place::Facts;

/// What accepts a store all the same.
const ACCEPTING: Accepting = Accepting::JAVASCRIPT;

/// The first line, and the others.
fn lines(told: &Told) -> (&str, &str) {
    told.text().split_once('\n').unwrap_or((told.text(), ""))
}

/// The settings that matter of the engine whose name is the text: the length of their names, a line each.
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

/// Refuses settings under which nothing is granted. The text is an engine's name and lines `NAME=VALUE`; answers the length
/// of the sentence, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn refuse(len: u32) -> u32 {
    sentence(&Told::take(len), |engine, value| engine.refuse(value))
}

/// The same of settings by which a failover can lose confirmed writes.
#[unsafe(no_mangle)]
pub extern "C" fn standby_risk(len: u32) -> u32 {
    sentence(&Told::take(len), |engine, value| engine.standby_risk(value))
}

/// Tells the value of a setting.
type Value<'v, 'a> = &'v dyn Fn(&str) -> Option<&'a str>;

fn sentence<'a>(told: &'a Told, judge: impl FnOnce(Engine, Value<'_, 'a>) -> Option<Finding<'a>>) -> u32 {
    let (engine, settings) = lines(told);
    let value = |name: &str| {
        settings
            .lines()
            .find_map(|line| line.split_once('=').filter(|(known, _)| *known == name).map(|(_, value)| value))
    };
    let mut text = Text { len: 0 };
    // A text that did not fit is nothing that anybody vouches for.
    match Engine::find(engine).map(|engine| judge(engine, &value)) {
        Some(None) => {}
        Some(Some(finding)) => drop(write!(text, "{}", finding.refusal(&ACCEPTING))),
        None => drop(write!(text, "the engine tells too much to be understood")),
    }
    text.len as u32
}

/// The sentence that refuses what else was found: that and the cure, a line each. Answers its length.
#[unsafe(no_mangle)]
pub extern "C" fn refusal(len: u32) -> u32 {
    let told = Told::take(len);
    let (found, cure) = lines(&told);
    let mut text = Text { len: 0 };
    let _ = write!(text, "{}", Refusal { found, cure, option: ACCEPTING.lossy });
    text.len as u32
}

/// Refuses a place where a database can be lost, or is out of reach for others who name it too. The text is a path without
/// links and the lines of `mountinfo` that are of it; `file_system` is the number of its file system, and `directory` not 0
/// for the directory of a file. Answers the length of the sentence, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn place(len: u32, file_system: u32, directory: u32) -> u32 {
    let told = Told::take(len);
    // Of a text that did not fit the file system still counts.
    let (path, mounts) = lines(&told);
    let doubt = Facts { path, file_system, mounts, ..Facts::default() }.lossy();
    let mut text = Text { len: 0 };
    if let Some(doubt) = doubt {
        let doubt = doubt.called(if directory == 0 { "the file" } else { "its directory" });
        let _ = write!(text, "{}", doubt.refuse_named(ACCEPTING.lossy));
    }
    text.len as u32
}
