//! Texts that are IDs of more than 64 bits, or of two numbers.

use super::kind::Kind;
use snowmint_core::host::wide;
use snowmint_core::{Integer, Ksuid, TextForm, Xid};

/// 2000-01-01, the epoch of `aidx`, in Unix ms.
const AIDX_EPOCH_MS: i64 = 946_684_800_000;

/// When texts of these kinds came into use, Unix ms.
mod begins {
    /// 2017-06-01, `segmentio/ksuid`.
    pub(super) const KSUID: i64 = 1_496_275_200_000;
    /// 2011-01-01: the oldest text in the tests of `rs/xid` is of that year.
    pub(super) const XID: i64 = 1_293_840_000_000;
    /// 2012-04-01, the start of Firebase.
    pub(super) const FIREBASE: i64 = 1_333_238_400_000;
    /// 2012-09-01, `paralleldrive/cuid`.
    pub(super) const CUID: i64 = 1_346_457_600_000;
    /// 2021-01-01, `scru128/spec`.
    pub(super) const SCRU128: i64 = 1_609_459_200_000;
    /// 2017-10-01, the design of streams in Redis.
    pub(super) const REDIS_STREAM: i64 = 1_506_816_000_000;
    /// 2016-11-01, the month before AWS announced X-Ray.
    pub(super) const XRAY: i64 = 1_477_958_400_000;
    /// 2023-10-01, `misskey-dev/misskey`.
    pub(super) const AIDX: i64 = 1_696_118_400_000;
}

/// Returns the reading of `text` as such an ID.
pub(super) fn text_id(text: &[u8]) -> Option<Kind> {
    // Digits alone are a decimal number.
    if text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    if let Some(kind) = redis_stream(text) {
        return Some(kind);
    }
    match (text.len(), text) {
        (16, _) => base36(text).map(Kind::Aidx),
        (20, [b'-', ..]) => number(text, 64, push_digit).map(Kind::FirebasePushId),
        (20, _) => Xid::parse(text).map(Kind::Xid),
        (25, [b'c', rest @ ..]) => base36(rest).map(Kind::Cuid),
        // Upper case too, up to 2^128 - 1.
        (25, _) => number(text, 36, base36_digit).map(Kind::Scru128),
        (27, _) => Ksuid::parse(text).map(Kind::Ksuid),
        (35, [b'1', b'-', rest @ ..]) if rest[8] == b'-' => {
            let (second, random) = (wide(&rest[..8], TextForm::Hex, 4)?, wide(&rest[9..], TextForm::Hex, 4)?);
            Some(Kind::XrayTraceId(second << 96 | random))
        }
        _ => None,
    }
}

/// Reads the ms, which have had 13 digits since 2001, a hyphen and the sequence.
fn redis_stream(text: &[u8]) -> Option<Kind> {
    let (ms, sequence) = text.split_at_checked(13)?;
    let sequence = sequence.strip_prefix(b"-")?;
    let is_plain = |digits: &[u8]| matches!(digits, [b'0'] | [b'1'..=b'9', ..]);
    match (Integer::parse(ms)?, Integer::parse(sequence)?) {
        (Integer::Fits(ms), Integer::Fits(number)) if is_plain(sequence) && ms >= 1_000_000_000_000 => {
            Some(Kind::RedisStreamId(u128::from(ms) << 64 | u128::from(number)))
        }
        _ => None,
    }
}

/// Returns the digits of base 36, in lower case, as a number.
fn base36(text: &[u8]) -> Option<u128> {
    if text.iter().any(u8::is_ascii_uppercase) { None } else { number(text, 36, base36_digit) }
}

fn base36_digit(byte: u8) -> Option<usize> {
    char::from(byte).to_digit(36).map(|digit| digit as usize)
}

/// Returns a digit of a push ID: `-`, 0 to 9, A to Z, `_`, a to z.
fn push_digit(byte: u8) -> Option<usize> {
    Some(usize::from(match byte {
        b'-' => 0,
        b'0'..=b'9' => byte - b'0' + 1,
        b'A'..=b'Z' => byte - b'A' + 11,
        b'_' => 37,
        b'a'..=b'z' => byte - b'a' + 38,
        _ => return None,
    }))
}

fn number(text: &[u8], base: u128, digit: fn(u8) -> Option<usize>) -> Option<u128> {
    text.iter().try_fold(0u128, |number, byte| number.checked_mul(base)?.checked_add(digit(*byte)? as u128))
}

/// Returns the time in an ID, Unix ms, and when such IDs came into use; `None` for kinds that are not of this file.
pub(super) fn time_of(kind: &Kind) -> Option<(i64, i64)> {
    /// 16 digits of base 36.
    const BASE36_16: u128 = 36u128.pow(16);
    Some(match kind {
        Kind::Ksuid(ksuid) => (ksuid.timestamp_ms(), begins::KSUID),
        Kind::Xid(xid) => (xid.timestamp_ms(), begins::XID),
        Kind::FirebasePushId(bits) => ((bits >> 72) as i64, begins::FIREBASE),
        Kind::Cuid(number) => ((number / BASE36_16) as i64, begins::CUID),
        Kind::Scru128(bits) => ((bits >> 80) as i64, begins::SCRU128),
        Kind::RedisStreamId(bits) => ((bits >> 64) as i64, begins::REDIS_STREAM),
        Kind::XrayTraceId(bits) => ((bits >> 96) as i64 * 1000, begins::XRAY),
        Kind::Aidx(number) => ((number / 36u128.pow(8)) as i64 + AIDX_EPOCH_MS, begins::AIDX),
        _ => return None,
    })
}

/// Returns the counter in an ID; `None` if the kind has none.
pub(super) fn counter_of(kind: &Kind) -> Option<u64> {
    Some(match kind {
        Kind::Cuid(number) => (number / 36u128.pow(12) % 36u128.pow(4)) as u64,
        Kind::Aidx(number) => (number % 36u128.pow(4)) as u64,
        _ => return None,
    })
}
