//! Properties of UUIDs, ULIDs and `ObjectId`s that are minted with any clock, and of their texts and layouts.

use std::collections::HashSet;

use proptest::prelude::*;
use snowmint_core::object_id::{ObjectId, ObjectIdState};
use snowmint_core::ulid::{Ulid, UlidState};
use snowmint_core::uuid::{GregorianStamp, GregorianState, Uuid, V7State};

/// 100 ns from 1582-10-15 to 1970.
const TO_1970: i64 = 0x01b2_1dd2_1381_4000;
const LAST_MS: i64 = (1 << 48) - 1;
const LAST_RANDOM: u128 = (1 << 80) - 1;

/// A scripted clock: it stands still, goes on, and steps anywhere within the range of time.
fn clock(last: i64) -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(prop_oneof![Just(0), 0i64..3, -1000..last, Just(i64::MIN)], 1..300).prop_map(|mut clock| {
        clock[0] = clock[0].max(0);
        clock
    })
}

/// Random bits that repeat: no promise needs new bits.
fn random() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop_oneof![any::<u32>(), Just(0), Just(u32::MAX)], 1..20)
}

proptest! {
    #[test]
    fn versions_1_and_6_have_no_time_twice_and_6_increases(clock in clock((1 << 59) - TO_1970), random in random()) {
        let mut state = GregorianState::new();
        let mut bits = random.into_iter().cycle();
        let mut last = None;
        for now_100ns in clock {
            let stamp = state.next(now_100ns, || bits.next().unwrap_or_default()).expect("in range");
            let (v1, v6) = (stamp.v1().expect("it fits"), stamp.v6().expect("it fits"));
            prop_assert_eq!((v1.version(), v6.version()), (Some(1), Some(6)));
            for uuid in [v1, v6] {
                prop_assert_eq!(uuid.gregorian_100ns(), Some(stamp.time));
                prop_assert_eq!(uuid.clock_sequence(), Some(stamp.clock_sequence));
                prop_assert_eq!(uuid.node(), Some(stamp.node));
            }
            prop_assert!(stamp.time.cast_signed() >= now_100ns.saturating_add(TO_1970));
            prop_assert!(Some((stamp.time, v6)) > last);
            last = Some((stamp.time, v6));
        }
    }

    #[test]
    fn versions_7_strictly_increase(clock in clock(LAST_MS - 1000), random in random(), left in 0u128..5, begun: bool) {
        // Some states start at the end of the counter.
        let bits = ((1 << 42) - 1 - left) << 32;
        let end = Uuid::v7(0, bits).expect("it fits");
        let mut state = if begun { V7State::after(end).expect("a version 7") } else { V7State::new() };
        let mut last = if begun { end } else { Uuid::NIL };
        let mut bits = random.into_iter().cycle();
        for now_ms in clock {
            let uuid = state.next(now_ms, || bits.next().unwrap_or_default()).expect("there is time");
            prop_assert!(uuid > last && uuid.to_string() > last.to_string());
            prop_assert_eq!((uuid.version(), V7State::after(uuid)), (Some(7), Some(state)));
            prop_assert!(uuid.timestamp_ms() >= Some(now_ms));
            last = uuid;
        }
    }

    #[test]
    fn ulids_strictly_increase_or_are_refused(clock in clock(LAST_MS), random in random()) {
        let mut state = UlidState::new();
        let mut bits = random.into_iter().cycle();
        let mut last = None;
        for now_ms in clock {
            let Ok(ulid) = state.next(now_ms, || bits.next().unwrap_or_default()) else {
                prop_assert_eq!(last.map(Ulid::random), Some(LAST_RANDOM), "only bits that are all 1 are used up");
                continue;
            };
            prop_assert!(Some(ulid) > last);
            prop_assert!(ulid.timestamp_ms() >= now_ms);
            last = Some(ulid);
        }
    }

    #[test]
    fn object_ids_never_repeat_and_their_seconds_never_go_back(clock in clock(1 << 41), random in random()) {
        let mut state = ObjectIdState::new();
        let mut bits = random.into_iter().cycle();
        let ids: Vec<_> = clock
            .iter()
            .map(|now_ms| state.next(*now_ms, || bits.next().unwrap_or_default()).expect("there is time"))
            .collect();
        prop_assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
        prop_assert!(ids.iter().zip(&clock).all(|(id, now_ms)| id.timestamp_ms() + 999 >= *now_ms));
        prop_assert!(ids.is_sorted_by_key(|id| id.timestamp_ms()));
        prop_assert!(ids.iter().all(|id| id.random() == ids[0].random()));
    }

    #[test]
    fn texts_bytes_and_parts_have_their_inverse(bits: u128, other: u128) {
        let (uuid, ulid) = (Uuid::from_bits(bits), Ulid::from_bits(bits));
        prop_assert_eq!(uuid.to_string().parse(), Ok(uuid));
        prop_assert_eq!(Uuid::from_bytes(uuid.to_bytes()), uuid);
        prop_assert_eq!(uuid.swapped().unswapped(), uuid);
        prop_assert_eq!(uuid.unswapped().swapped(), uuid);
        prop_assert_eq!(ulid.to_string().parse(), Ok(ulid));
        prop_assert_eq!(Ulid::from_bytes(ulid.to_bytes()), ulid);
        prop_assert_eq!(Ulid::from_parts(ulid.timestamp_ms(), ulid.random()), Ok(ulid));
        prop_assert_eq!(ulid.cmp(&Ulid::from_bits(other)), ulid.to_string().cmp(&Ulid::from_bits(other).to_string()));
        let id = ObjectId::from_bytes(*bits.to_be_bytes().first_chunk().expect("12 of 16"));
        prop_assert_eq!(id.to_string().parse(), Ok(id));
        prop_assert_eq!(ObjectId::from_bytes(id.to_bytes()), id);
        prop_assert_eq!(ObjectId::from_parts(id.timestamp_ms(), id.random(), id.counter()), Ok(id));
    }

    #[test]
    fn no_text_is_read_as_more_than_one_thing(text in "\\PC{0,40}|[0-9a-fA-F{}:urni-]{20,46}") {
        let read = [
            text.parse::<Uuid>().is_ok(),
            text.parse::<Ulid>().is_ok(),
            text.parse::<ObjectId>().is_ok(),
        ];
        prop_assert!(read.iter().filter(|read| **read).count() <= 1);
    }

    #[test]
    fn parts_of_versions_1_and_6_that_do_not_fit_are_refused(time: u64, clock_sequence: u16, node: u64) {
        let stamp = GregorianStamp { time, clock_sequence, node };
        let fits = time >> 60 == 0 && clock_sequence >> 14 == 0 && node >> 48 == 0;
        prop_assert_eq!(stamp.v1().is_ok(), fits);
        prop_assert_eq!(stamp.v6().is_ok(), fits);
    }

    #[test]
    fn the_crate_uuid_lays_out_the_same(
        random: u128,
        ms in 0..1u64 << 48,
        time in 0u64..1 << 60,
        clock_sequence in 0u16..1 << 14,
        node in 0u64..1 << 48,
    ) {
        let theirs = |builder: uuid::Builder| builder.into_uuid().as_u128();
        prop_assert_eq!(Uuid::v4(random).to_bits(), theirs(uuid::Builder::from_u128(random).with_version(uuid::Version::Random).with_variant(uuid::Variant::RFC4122)));
        let [_, _, _, _, _, _, tail @ ..] = random.to_be_bytes();
        // The bits of version and variant replace random bits there.
        let kept = random >> 64 & 0xfff;
        let v7 = Uuid::v7(ms.cast_signed(), kept << 62 | random & ((1 << 62) - 1)).expect("it fits");
        prop_assert_eq!(v7.to_bits(), theirs(uuid::Builder::from_unix_timestamp_millis(ms, &tail)));
        let (a, b, c) = (ms, u16::try_from(kept).expect("12 bits"), u64::try_from(random >> 66).expect("62 bits"));
        let custom = u128::from(a) << 80 | u128::from(b) << 64 | u128::from(c);
        let v8 = uuid::Builder::from_custom_bytes(custom.to_be_bytes());
        prop_assert_eq!(Uuid::v8(a, b, c).expect("they fit").to_bits(), theirs(v8));
        let stamp = GregorianStamp { time, clock_sequence, node };
        let [_, _, address @ ..] = node.to_be_bytes();
        let v1 = uuid::Builder::from_gregorian_timestamp(time, clock_sequence, &address);
        let v6 = uuid::Builder::from_sorted_gregorian_timestamp(time, clock_sequence, &address);
        prop_assert_eq!(stamp.v1().expect("it fits").to_bits(), theirs(v1));
        prop_assert_eq!(stamp.v6().expect("it fits").to_bits(), theirs(v6));
    }
}

#[test]
fn object_ids_of_a_still_clock_never_repeat() {
    let mut state = ObjectIdState::new();
    let mut seen = vec![0u8; 1 << 24];
    for _ in 0..(1 << 24) + 1000 {
        let id = state.next(5000, || 0xffff_fff0).expect("there is time");
        let second = u8::try_from(id.timestamp_ms() / 1000 - 5).expect("5 or 6");
        let seconds = &mut seen[id.counter() as usize];
        assert_eq!(*seconds, second, "each number comes first in the second 5, then in the second 6");
        *seconds += 1;
    }
}
