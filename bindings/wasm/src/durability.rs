//! Whether an engine's settings keep what it confirms, for the stores.

use core::fmt::Write;

use snowmint_core::durability::{Engine, Refusal, unsafe_file_system};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::memory::{TEXT, buffer};
use crate::write::Text;

/// What accepts an unsafe store all the same.
const OPTION: &str = "allowUnsafe: true";

/// What JavaScript wrote, out of the way of the answer. A text that did not fit tells of nothing.
struct Told {
    text: [u8; TEXT],
    len: usize,
}

impl Told {
    fn take(len: u32) -> Self {
        let len = len as usize;
        Self { text: buffer().text, len: if len > TEXT { 0 } else { len } }
    }

    /// The first line, and the others.
    fn lines(&self) -> (&str, &str) {
        let text = core::str::from_utf8(&self.text[..self.len]).unwrap_or_default();
        text.split_once('\n').unwrap_or((text, ""))
    }
}

/// The settings that matter of the engine whose name is the text: the length of their names, a line each.
#[wasm_bindgen]
pub fn settings(len: u32) -> u32 {
    let told = Told::take(len);
    let mut text = Text { len: 0 };
    for setting in Engine::find(told.lines().0).into_iter().flat_map(Engine::settings) {
        // Writing into the buffer cannot fail.
        let _ = writeln!(text, "{setting}");
    }
    text.len as u32
}

/// Refuses settings under which confirmed writes can be lost. The text is an engine's name and lines `NAME=VALUE`; answers
/// the length of the sentence, or 0.
#[wasm_bindgen]
pub fn refuse(len: u32) -> u32 {
    let told = Told::take(len);
    let (engine, settings) = told.lines();
    let value = |name: &str| {
        settings
            .lines()
            .find_map(|line| line.split_once('=').filter(|(known, _)| *known == name).map(|(_, value)| value))
    };
    let mut text = Text { len: 0 };
    // A text that did not fit is nothing that anybody vouches for.
    match Engine::find(engine).map(|engine| engine.refuse(value)) {
        Some(None) => {}
        Some(Some(finding)) => drop(write!(text, "{}", finding.refusal(OPTION))),
        None => drop(write!(text, "the engine tells too much to be understood")),
    }
    text.len as u32
}

/// The sentence that refuses what else was found: that and the cure, a line each. Answers its length.
#[wasm_bindgen]
pub fn refusal(len: u32) -> u32 {
    let told = Told::take(len);
    let (found, cure) = told.lines();
    let mut text = Text { len: 0 };
    let _ = write!(text, "{}", Refusal { found, cure, option: OPTION });
    text.len as u32
}

/// The length of the name of the file system of that number, if it may lose what is written there; or 0.
#[wasm_bindgen]
pub fn file_system(number: u32) -> u32 {
    let mut text = Text { len: 0 };
    let _ = text.write_str(unsafe_file_system(number).unwrap_or_default());
    text.len as u32
}
