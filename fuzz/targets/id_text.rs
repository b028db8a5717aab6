//! Reads any text as an ID in every form, as a node, and with `inspect`: reading never panics, and each ID has one
//! canonical spelling.
#![no_main]

use libfuzzer_sys::fuzz_target;
use snowmint_core::layouts::{BAIDU, MASTODON, SNOWMINT, TWITTER};
use snowmint_core::{ErrorKind, TextForm, time};
use snowmint_inspect::inspect;

fuzz_target!(|text: &[u8]| {
    for form in TextForm::ALL {
        match form.decode(text) {
            Ok(id) => {
                let canonical = form.encode(id);
                assert_eq!(canonical.as_bytes().len(), form.width());
                assert_eq!(form.decode(canonical.as_bytes()), Ok(id), "{} {canonical}", form.name());
                // Other accepted spellings differ only by case or by Crockford's look-alikes.
                assert!(form == TextForm::Base32 || canonical.as_bytes().eq_ignore_ascii_case(text));
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidText),
        }
    }
    for layout in [SNOWMINT, TWITTER, BAIDU, MASTODON] {
        match layout.parse_node(text) {
            Ok(node) => assert!(u64::from(node) < layout.nodes()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidNode),
        }
    }
    for candidate in &inspect(text, 1_793_491_200_000) {
        assert!(candidate.reason().to_string().len() < 200);
        // IDs of Pinterest have no time, and so no layout.
        assert_eq!(candidate.parts().is_some(), !matches!(candidate.system(), None | Some("pinterest")));
    }
    if let Some(unix_ms) = time::parse_rfc3339(text) {
        let mut printed = String::new();
        time::write_rfc3339(&mut printed, unix_ms).expect("a String takes everything");
        // An offset can lead to a year that the format cannot write.
        if !printed.starts_with(['+', '-']) {
            assert_eq!(time::parse_rfc3339(printed.as_bytes()), Some(unix_ms), "{printed}");
        }
    }
});
