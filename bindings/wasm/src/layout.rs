//! Layouts by handle.

use snowmint_core::{Layout, Parts};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::answer;
use crate::memory::{buffer, keep, kept};

/// A new handle of a layout, given as a preset's name or its text. The caller keeps one for each text.
#[wasm_bindgen]
pub fn layout(len: u32) -> i32 {
    answer(Layout::find(buffer().text(len)).map(keep))
}

/// The length of the canonical text.
#[wasm_bindgen]
pub fn layout_text(layout: u32) -> u32 {
    let layout: &Layout = kept(layout);
    buffer().write(|put| layout.write(put))
}

/// Words: bits, epoch, tick, end, whether there is a sign date, that date, whether JS-safe, nodes, IDs a tick, a second;
/// then the six words that two layouts of the same numbers have in common.
#[wasm_bindgen]
pub fn layout_facts(layout: u32) {
    let layout: &Layout = kept(layout);
    let signed_until_ms = layout.signed_until_ms();
    buffer().words[..10].copy_from_slice(&[
        u64::from(layout.bits()),
        layout.epoch_ms() as u64,
        layout.tick_ms(),
        layout.ends_at_ms() as u64,
        u64::from(signed_until_ms.is_some()),
        signed_until_ms.unwrap_or_default() as u64,
        u64::from(layout.js_safe()),
        layout.nodes(),
        layout.ids_per_tick(),
        layout.ids_per_second(),
    ]);
    buffer().words[10..16].copy_from_slice(&layout.numbers().to_words());
}

/// Words: timestamp, tick, node, sequence, then each field but `unused`. The ID is integer 0.
#[wasm_bindgen]
pub fn decode(layout: u32) -> i32 {
    let layout: &Layout = kept(layout);
    let words = buffer();
    answer((|| {
        let id = words.integer(0).id()?;
        let Parts { timestamp_ms, tick, node, sequence, .. } = layout.decode(id)?;
        words.words[..4].copy_from_slice(&[timestamp_ms as u64, tick, u64::from(node), sequence]);
        for (word, (_, value)) in words.words[4..].iter_mut().zip(layout.field_values(id)) {
            *word = value;
        }
        Ok(0)
    })())
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
    answer(id.map(|id| {
        buffer.words[0] = id;
        0
    }))
}

/// Words 0 and 1: the lowest and the highest ID between two instants, both included.
#[wasm_bindgen]
pub fn id_range(layout: u32, from_ms: i64, to_ms: i64) -> i32 {
    answer(kept::<Layout>(layout).id_range(from_ms, to_ms).map(|range| {
        buffer().words[..2].copy_from_slice(&[*range.start(), *range.end()]);
        0
    }))
}

/// Word 0: the node of a text such as `5` or `datacenter=0,worker=5`.
#[wasm_bindgen]
pub fn parse_node(layout: u32, len: u32) -> i32 {
    answer(kept::<Layout>(layout).parse_node(buffer().text(len)).map(|node| {
        buffer().words[0] = u64::from(node);
        0
    }))
}

/// Whether the layout is over at that instant: then -1 and the error.
#[wasm_bindgen]
pub fn refuse_if_over(layout: u32, now_ms: i64) -> i32 {
    answer(kept::<Layout>(layout).refuse_if_over(now_ms).map(|()| 0))
}
