//! Reads any text as a layout: reading never panics, and each layout prints as one canonical text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use snowmint_core::{ErrorKind, Layout};

fuzz_target!(|text: &[u8]| {
    let Ok(layout) = Layout::parse(text) else { return };
    let canonical = layout.to_string();
    let again = Layout::parse(&canonical).expect("what was printed can be read");
    assert_eq!(again, layout, "{canonical}");
    assert_eq!(again.to_string(), canonical);
    assert!(layout.same_numbers(&again));
    // The facts of the layout.
    let _ = (layout.ends_at_ms(), layout.signed_until_ms(), layout.js_safe(), layout.ids_per_second());
    let _ = layout.id_range(layout.epoch_ms(), layout.ends_at_ms());
    let low = layout.bits().checked_sub(1).map_or(0, |bits| u64::MAX >> (63 - bits));
    for id in [0, 1, low, low >> 1, low / 3, low / 5, 0x0123_4567_89ab_cdef & low, u64::MAX] {
        match layout.decode(id) {
            // The last instant of 64 bits, which means all later times in hosts.
            Ok(parts) if parts.timestamp_ms == i64::MAX => {}
            Ok(parts) => assert_eq!(layout.encode(&parts), Ok(id), "{canonical}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidId, "{canonical}"),
        }
    }
});
