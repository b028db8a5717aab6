//! Which systems could have minted an ID?

mod candidate;
mod candidates;
mod form;
mod kind;
mod reading;
mod reason;
mod spread;
mod system;
mod text_id;

pub use self::candidate::{Candidate, Confidence};
pub use self::candidates::Candidates;
pub use self::form::Form;
pub use self::kind::Kind;
pub use self::reason::Reason;

use self::reading::NUMBER;
use self::spread::BIT;
use snowmint_core::Integer;

/// The cost of a text that could also be the ID of a `YouTube` video.
const VIDEO_COST: u32 = 4 * BIT;

/// Lists the systems that could have minted the ID in a text, the most plausible first. Other text gives an empty list.
///
/// The text may be a 64-bit ID (decimal, hex with or without `0x` or of 15 digits, base 32, 36, 58 or 62 of full width,
/// base 64 for URLs as Instagram writes it, base 32 as Bluesky writes it, with a prefix), a UUID (also in braces, after
/// `urn:uuid:` or without hyphens), a ULID, an `ObjectId`, a `TypeID`, a KSUID, an xid, a push ID of Firebase, a cuid, a
/// SCRU128 ID, the ID of a stream in Redis, a trace ID of X-Ray, or an aidx of Misskey. Blanks around it are ignored.
/// `now_ms` is the present time in Unix ms.
///
/// | order | criterion |
/// | --- | --- |
/// | 1 | the time. It is plausible between the begin of the system and now. These times are unlikely, in this order: before the begin; within a day of the epoch, where small numbers of any origin fall; more than a day after now |
/// | 2 | how many bits it takes to explain the ID by the system: how rare its IDs are; the time between the begin and now (or within the last day, if it is); and every other bit by the spread of its values. Bits that can have any value, such as a wide node or random bits, cost their full width: they are not evidence. A counter near 0, or a data centre that the system is known to have, costs fewer |
///
/// Presets of the same shape (such as Twitter and Discord, with 41 or 42 bits of ms above 22 others) differ only by their
/// epoch and the spread of their bits. [`Candidate::confidence`] says how sure the order is.
///
/// Text in a form that few systems print (base 36, say) can be anything: it needs an ID with much structure, such as a
/// counter of 0.
///
/// # Examples
/// ```
/// use snowmint_inspect::inspect;
/// let candidates = inspect("1541815603606036480", 1_790_000_000_000);
/// assert_eq!((candidates[0].system(), candidates[0].confidence().name()), (Some("twitter"), "high"));
/// assert_eq!(candidates[0].reason().to_string(), "time 2022-06-28, 4.2 years before now; sequence 0");
///
/// let candidates = inspect("8c45583a-0e1f-11ec-804d-005056219395", 1_790_000_000_000);
/// assert_eq!((candidates[0].kind().name(), candidates[0].timestamp_ms()), ("uuid1", Some(1_630_828_920_177)));
/// assert!(inspect("garbage", 1_790_000_000_000).is_empty());
/// ```
pub fn inspect(text: impl AsRef<[u8]>, now_ms: i64) -> Candidates {
    let text = text.as_ref().trim_ascii();
    let mut candidates = Candidates::new();
    reading::ids(text, |form, id, rule| {
        let looks_like_a_video = form == Form::Base64Url && reading::may_be_a_video(text);
        candidates.add_id(form, id, rule, if looks_like_a_video { VIDEO_COST } else { 0 }, now_ms);
    });
    reading::others(text, |form, kind| candidates.add_other(form, kind, now_ms));
    candidates.sort();
    candidates
}

/// Works as [`inspect`], for an integer. An integer below 0 is the signed form of the same 64 bits; an integer beyond
/// 64 bits gives an empty list. `now_ms` is Unix ms.
///
/// # Examples
/// ```
/// use snowmint_core::Integer;
/// use snowmint_inspect::inspect::inspect_integer;
/// let candidates = inspect_integer(Integer::from(1_541_815_603_606_036_480_u64), 1_790_000_000_000);
/// assert_eq!(candidates[0].system(), Some("twitter"));
/// assert!(inspect_integer(Integer::Above, 1_790_000_000_000).is_empty());
/// ```
pub fn inspect_integer(value: Integer, now_ms: i64) -> Candidates {
    let mut candidates = Candidates::new();
    if let Ok(id) = value.id() {
        candidates.add_id(Form::Integer, id, &NUMBER, 0, now_ms);
    }
    candidates.sort();
    candidates
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::system::{SYSTEM_COUNT, SYSTEMS};
    use super::*;
    use snowmint_core::layouts;
    use std::string::{String, ToString};
    use std::vec::Vec;

    /// 2026-11-01.
    const NOW_MS: i64 = 1_793_491_200_000;

    fn first(text: &str) -> (&'static str, &'static str, String) {
        let candidates = inspect(text, NOW_MS);
        let first = candidates.first().expect("a candidate");
        (first.kind().name(), first.form().name(), first.reason().to_string())
    }

    #[test]
    fn a_fresh_id_is_plausible_in_its_system() {
        for (name, layout) in layouts::all().filter(|(_, layout)| layout.ends_at_ms() > NOW_MS) {
            for ahead_ms in [-3_600_000, 0, 1000] {
                let node = if layout.nodes() > 1 { 3 } else { 0 };
                let id = layout.encode_at(NOW_MS + ahead_ms, node.into(), 1.into(), 0.into()).expect("its time");
                let candidates = inspect_integer(id.into(), NOW_MS);
                let found = candidates.iter().position(|one| one.system() == Some(name)).expect("a candidate");
                assert!(candidates[found].is_plausible(), "{name} {ahead_ms}: {:?}", candidates[found]);
                // Only snowmint has these two layouts.
                assert!(found == 0 || !["snowmint", "safe53"].contains(&name), "{name}: {:?}", candidates[0]);
            }
        }
    }

    #[test]
    fn every_system_that_decodes_an_id_is_listed_once() {
        for id in [0, 1, 5, 1 << 53, 1_541_815_603_606_036_480, u64::MAX >> 1, 1 << 63, u64::MAX] {
            let candidates = inspect_integer(id.into(), NOW_MS);
            let mut found: Vec<_> = candidates.iter().filter_map(Candidate::system).collect();
            let decodes = |name: &&str| match system::layout(name) {
                Ok(layout) => layout.decode(id).is_ok(),
                Err(_) => system::is_of_pinterest(id),
            };
            let mut able: Vec<_> = SYSTEMS.iter().map(|system| system.name).filter(decodes).collect();
            found.sort_unstable();
            able.sort_unstable();
            assert_eq!(found, able);
        }
    }

    #[test]
    fn the_list_fits_a_short_stack() {
        assert!(size_of::<Candidates>() <= 4096, "{} bytes", size_of::<Candidates>());
    }

    #[test]
    fn the_list_has_room_for_all_systems() {
        // Digits alone are decimal, although base 32 and base 36 have 13 of them too. Two systems
        // are missing: IDs of Sentry have a fixed part, and IDs of Pinterest a known type.
        let candidates = inspect("0000000000005", NOW_MS);
        assert_eq!(candidates.len(), SYSTEM_COUNT - 2);
        assert!(candidates.iter().all(|one| one.form() == Form::Id(snowmint_core::TextForm::Decimal)));
    }

    #[test]
    fn times_of_systems_are_those_of_their_layouts() {
        for id in [5, 1_541_815_603_606_036_480, 7_199_081_390_080_409_600, 4_509_563_503_640_576, u64::MAX >> 1] {
            for candidate in &inspect_integer(id.into(), NOW_MS) {
                let Some(parts) = candidate.parts() else { continue };
                assert_eq!(candidate.timestamp_us(), Some(parts.timestamp_us()), "{candidate:?}");
            }
        }
    }

    #[test]
    fn equally_good_explanations_say_so() {
        let candidates = inspect("440322224407314432", NOW_MS);
        let tied: Vec<_> = candidates.iter().take_while(|one| one.confidence() == Confidence::Tied).collect();
        assert_eq!(tied.iter().map(|one| one.system()).collect::<Vec<_>>(), [Some("twitter"), Some("discord")]);
        assert!(tied.iter().all(|one| one.reason().to_string().ends_with("; other systems explain it equally well")));
        assert!(candidates[2].confidence() < Confidence::Tied);
    }

    #[test]
    fn a_reason_shows_the_evidence_for_and_against_a_candidate() {
        let of = |preset, text| {
            let candidates = inspect(text, NOW_MS);
            let found = candidates.iter().find(|candidate| candidate.system() == Some(preset));
            found.expect("a candidate").reason().to_string()
        };
        let tweet = "1541815603606036480";
        assert_eq!(of("twitter", tweet), "time 2022-06-28, 4.3 years before now; sequence 0");
        assert_eq!(of("snowmint", tweet), "unlikely: time 2036-08-25, 9.8 years after now; sequence 0");
        assert_eq!(of("twitter", "5"), "unlikely: time 2010-11-04, 0 ms after the epoch; node 0");
        assert_eq!(of("leaf", "175928847299117063"), "unlikely: time 2012-03-03, 6.7 years before leaf began");
    }

    #[test]
    fn reasons_of_uuids_name_version_and_variant() {
        let reason = "version 1, time 2021-09-05, 5.1 years before now; node 00:50:56:21:93:95; clock sequence 77";
        for (text, form) in [
            ("8c45583a-0e1f-11ec-804d-005056219395", "uuid"),
            ("{8C45583A-0E1F-11EC-804D-005056219395}", "uuid_braces"),
            ("URN:UUID:8c45583a-0e1f-11ec-804d-005056219395", "uuid_urn"),
            ("8c45583a0e1f11ec804d005056219395", "uuid_hex"),
            ("11ec0e1f8c45583a804d005056219395", "uuid_swapped"),
        ] {
            assert_eq!(first(text), ("uuid1", form, reason.into()));
        }
        for (text, kind, reason) in [
            ("6fa459ea-ee8a-3ca4-894e-db77e160355e", "uuid3", "version 3, MD5 of a name"),
            ("2a6bb4e6-6d2f-4c4c-8a3a-2f9c38a9b7d1", "uuid4", "version 4, random"),
            ("886313e1-3b8a-5372-9b90-0c9aee199e5d", "uuid5", "version 5, SHA-1 of a name"),
            ("12345678-1234-8234-8234-123456789abc", "uuid8", "version 8, defined by its minter"),
            ("12345678-1234-9234-8234-123456789abc", "uuid", "version 9, which is not defined"),
            ("12345678-1234-1234-c234-123456789abc", "uuid", "a UUID of the Microsoft variant, without a version"),
            ("00000000-0000-0000-0000-000000000000", "uuid_nil", "the nil UUID"),
            ("ffffffff-ffff-ffff-ffff-ffffffffffff", "uuid_max", "the max UUID"),
        ] {
            assert_eq!(first(text), (kind, "uuid", reason.into()));
        }
    }

    #[test]
    fn the_reason_of_a_version_2_names_its_owner() {
        let about = |domain| {
            let text = std::format!("000003e8-0e1f-21ec-80{domain}-005056219395");
            let (kind, _, reason) = first(&text);
            assert_eq!(kind, "uuid2");
            reason
        };
        let time = "version 2, DCE security, time 2021-09-05, 5.1 years before now";
        let rest = "node 00:50:56:21:93:95; clock sequence 0";
        assert_eq!(about("00"), std::format!("{time}; user 1000; {rest}"));
        assert_eq!(about("01"), std::format!("{time}; group 1000; {rest}"));
        assert_eq!(about("02"), std::format!("{time}; organisation 1000; {rest}"));
        assert_eq!(about("ff"), std::format!("{time}; number 1000 of domain 255; {rest}"));
    }

    #[test]
    fn the_examples_of_rfc_9562_have_the_right_time() {
        // Appendices A.1, A.5 and A.6: 2022-02-22T19:22:22Z.
        for text in [
            "C232AB00-9414-11EC-B3C8-9F6BDECED846",
            "1EC9414C-232A-6B00-B3C8-9F6BDECED846",
            "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
        ] {
            assert_eq!(inspect(text, NOW_MS)[0].timestamp_ms(), Some(1_645_557_742_000), "{text}");
        }
    }

    #[test]
    fn ulids_and_object_ids_have_a_time() {
        let ulid = ("ulid", "ulid", "time 2016-07-30, 10.2 years before now".into());
        assert_eq!(first("01ARZ3NDEKTSV4RRFFQ69G5FAV"), ulid);
        assert_eq!(first(" 01arz3ndektsv4rrffq69g5fav\n"), ulid);
        let middle = "random 3475061e3d, or machine 347506 and process 7741";
        let reason = std::format!("time 2008-03-03, 18.6 years before now; {middle}; counter 9778845");
        assert_eq!(first("47cc67093475061e3d95369d"), ("object_id", "object_id", reason));
    }

    #[test]
    fn other_text_gives_an_empty_list() {
        for text in [
            "",
            " ",
            "-",
            "--5",
            "+5",
            "1.5",
            "0x",
            "0xg",
            "0x10000000000000000",
            "18446744073709551616",
            "-9223372036854775809",
            "abc",
            "\0",
            "\u{ff15}",
            "{8c45583a-0e1f-11ec-804d-005056219395",
            "8c45583a_0e1f_11ec_804d_005056219395",
            "urn:uuid:",
            "81ARZ3NDEKTSV4RRFFQ69G5FAV",
        ] {
            assert!(inspect(text, NOW_MS).is_empty(), "{text:?}");
        }
        assert!(inspect_integer(Integer::Above, NOW_MS).is_empty());
    }

    #[test]
    fn no_present_is_too_early_or_too_late() {
        for now_ms in [i64::MIN, -1, 0, i64::MAX] {
            for text in ["1541815603606036480", "-1", "8c45583a-0e1f-11ec-804d-005056219395"] {
                let candidates = inspect(text, now_ms);
                assert!(!candidates.is_empty());
                assert!(candidates.iter().all(|candidate| candidate.reason().to_string().contains("time")));
            }
        }
    }
}
