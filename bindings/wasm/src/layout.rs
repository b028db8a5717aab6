//! Layouts by handle.

use snowmint_core::Layout;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::{Text, answer};
use crate::memory::{buffer, keep, kept};

/// A new handle of a layout, given as its text. The caller keeps one for each text.
#[wasm_bindgen]
pub fn layout(len: u32) -> i32 {
    answer(Layout::parse(buffer().text(len)), keep)
}

/// The length of the canonical text.
#[wasm_bindgen]
pub fn layout_text(layout: u32) -> u32 {
    let mut text = Text { len: 0 };
    // Writing into the buffer cannot fail.
    let _ = kept::<Layout>(layout).write(&mut text);
    text.len as u32
}

/// Words: bits, epoch, tick, end, sign date, whether JS-safe, nodes, IDs a tick, IDs a second; then the six words that
/// two layouts of the same numbers have in common.
#[wasm_bindgen]
pub fn layout_facts(layout: u32) {
    let layout: &Layout = kept(layout);
    let words = &mut buffer().words;
    words[0] = u64::from(layout.bits());
    words[1] = layout.epoch_ms() as u64;
    words[2] = layout.tick_ms();
    words[3] = layout.ends_at_ms() as u64;
    words[4] = layout.signed_until_ms().unwrap_or(NEVER) as u64;
    words[5] = u64::from(layout.js_safe());
    words[6] = layout.nodes();
    words[7] = layout.ids_per_tick();
    words[8] = layout.ids_per_second();
    words[9..15].copy_from_slice(&layout.numbers().to_words());
}

/// In the place of a date that never comes; no layout starts or ends there.
const NEVER: i64 = i64::MIN;

/// Words: timestamp, node, then each field but `unused`. The ID is integer 0.
#[wasm_bindgen]
pub fn decode(layout: u32) -> i32 {
    let layout: &Layout = kept(layout);
    let buffer = buffer();
    let decoded = buffer.integer(0).id().and_then(|id| Ok((id, layout.decode(id)?)));
    answer(decoded, |(id, parts)| {
        buffer.words[0] = parts.timestamp_ms as u64;
        buffer.words[1] = u64::from(parts.node);
        for (word, (_, value)) in buffer.words[2..].iter_mut().zip(layout.field_values(id)) {
            *word = value;
        }
        0
    })
}

/// Word 0: the ID. Integers 0, 2, 4: node, sequence, random; the time is a tick or Unix ms.
#[wasm_bindgen]
pub fn encode(layout: u32, time: i64, is_tick: bool) -> i32 {
    let layout: &Layout = kept(layout);
    let buffer = buffer();
    let (node, sequence, random) = (buffer.integer(0), buffer.integer(2), buffer.integer(4));
    let id = if is_tick {
        layout.encode_tick(time as u64, node, sequence, random)
    } else {
        layout.encode(time, node, sequence, random)
    };
    answer(id, |id| {
        buffer.words[0] = id;
        0
    })
}

/// Words 0 and 1: the lowest and the highest ID between two instants, both included.
#[wasm_bindgen]
pub fn id_range(layout: u32, from_ms: i64, to_ms: i64) -> i32 {
    answer(kept::<Layout>(layout).id_range(from_ms, to_ms), |range| {
        buffer().words[..2].copy_from_slice(&[*range.start(), *range.end()]);
        0
    })
}

/// Word 0: the node of a text such as `5` or `datacenter=0,worker=5`.
#[wasm_bindgen]
pub fn parse_node(layout: u32, len: u32) -> i32 {
    answer(kept::<Layout>(layout).parse_node(buffer().text(len)), |node| {
        buffer().words[0] = u64::from(node);
        0
    })
}
