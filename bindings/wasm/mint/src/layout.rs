//! Layouts by handle.

use glue::{answer, buffer, keep, kept};
use snowmint_core::{Integer, Layout};

/// A new handle of a layout, given as its text. The caller keeps one for each text.
#[unsafe(no_mangle)]
pub extern "C" fn layout(len: u32) -> i32 {
    answer(Layout::parse(buffer().text(len)), keep)
}

/// Words, as `f64`: bits, epoch, tick in microseconds, end, sign date (NaN: never), whether JS-safe, nodes, IDs per tick,
/// IDs per second. Then, as integers, the layout's numbers, which are equal for layouts that differ only in names.
#[unsafe(no_mangle)]
pub extern "C" fn describe(layout: u32) {
    let layout: &Layout = kept(layout);
    let words = &mut buffer().words;
    words[0] = f64::from(layout.bits()).to_bits();
    words[1] = (layout.epoch_ms() as f64).to_bits();
    words[2] = (layout.tick_us() as f64).to_bits();
    words[3] = (layout.ends_at_ms() as f64).to_bits();
    words[4] = layout.signed_until_ms().map_or(f64::NAN, |ms| ms as f64).to_bits();
    words[5] = f64::from(u8::from(layout.js_safe())).to_bits();
    words[6] = (layout.nodes() as f64).to_bits();
    words[7] = (layout.ids_per_tick() as f64).to_bits();
    words[8] = (layout.ids_per_second() as f64).to_bits();
    words[9..16].copy_from_slice(&layout.numbers().to_words());
}

/// Words: timestamp in ms, microseconds after it, node, then each field but `unused`. The ID is integer 0.
#[unsafe(no_mangle)]
pub extern "C" fn decode(layout: u32) -> i32 {
    let layout: &Layout = kept(layout);
    let buffer = buffer();
    let decoded = buffer.integer(0).id().and_then(|id| Ok((id, layout.decode(id)?)));
    answer(decoded, |(id, parts)| {
        buffer.words[0] = parts.timestamp_ms as u64;
        buffer.words[1] = u64::from(parts.extra_us);
        buffer.words[2] = u64::from(parts.node);
        for (word, (_, value)) in buffer.words[3..].iter_mut().zip(layout.field_values(id)) {
            *word = value;
        }
        0
    })
}

/// Word 0: the ID. Integers 0, 2, 4, 6: node, sequence, random, tick; the tick counts if the time is NaN.
#[unsafe(no_mangle)]
pub extern "C" fn encode(layout: u32, time_ms: f64, extra_us: u32) -> i32 {
    let layout: &Layout = kept(layout);
    let buffer = buffer();
    let (node, sequence, random) = (buffer.integer(0), buffer.integer(2), buffer.integer(4));
    let id = if time_ms.is_nan() {
        // No layout has the tick `u64::MAX`, so it stands for every integer that does not fit.
        let tick = if let Integer::Fits(tick) = buffer.integer(6) { tick } else { u64::MAX };
        layout.encode_tick(tick, node, sequence, random)
    } else {
        layout.encode_at_us(time_ms as i64, extra_us, node, sequence, random)
    };
    answer(id, |id| {
        buffer.words[0] = id;
        0
    })
}

/// Words 0 and 1: the lowest and the highest ID between two instants, both included.
#[unsafe(no_mangle)]
pub extern "C" fn id_range(layout: u32, from_ms: f64, to_ms: f64) -> i32 {
    answer(kept::<Layout>(layout).id_range(from_ms as i64, to_ms as i64), |range| {
        buffer().words[..2].copy_from_slice(&[*range.start(), *range.end()]);
        0
    })
}

/// Word 0: the node of a text such as `5` or `datacenter=0,worker=5`.
#[unsafe(no_mangle)]
pub extern "C" fn parse_node(layout: u32, len: u32) -> i32 {
    answer(kept::<Layout>(layout).parse_node(buffer().text(len)), |node| {
        buffer().words[0] = u64::from(node);
        0
    })
}
