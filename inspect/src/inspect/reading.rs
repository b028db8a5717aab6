//! The readings of a text: each form that it can have, with the ID.

use super::form::Form;
use super::kind::Kind;
use super::text_id::text_id;
use snowmint_core::host::wide;
use snowmint_core::{Integer, ObjectId, TextForm, Ulid, Uuid, prefix};

/// The rule of a form: which systems can have printed a text in this form, and at which cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// The systems that print this form.
    pub(super) own: &'static [&'static str],
    /// The cost of all other systems, in bits; `None` if they never print this form.
    pub(super) others: Option<u32>,
    /// Whether an ID of another system needs structure, as the text could be anything.
    pub(super) needs_structure: bool,
    /// Whether unlikely candidates are listed.
    pub(super) lists_unlikely: bool,
}

/// A number is an ID, whatever its system.
pub(super) const NUMBER: Rule = Rule { own: &[], others: Some(0), needs_structure: false, lists_unlikely: true };

const fn printed_by(own: &'static [&'static str], others: Option<u32>, needs_structure: bool) -> Rule {
    Rule { own, others, needs_structure, lists_unlikely: false }
}

const HEX_15: Rule = printed_by(&["sonyflake", "sonyflake2"], Some(6), true);
const BASE32: Rule = printed_by(&["tsid"], Some(8), true);
const TEXT: Rule = printed_by(&[], Some(4), true);
const PREFIXED: Rule = printed_by(&["snowmint"], Some(2), false);
const BASE64URL: Rule = printed_by(&["instagram"], None, true);
const BASE32_SORTABLE: Rule = printed_by(&["bluesky"], None, true);

/// Hands every reading of `text` as a 64-bit ID to `take`.
pub(super) fn ids(text: &[u8], mut take: impl FnMut(Form, u64, &Rule)) {
    if let Some(number) = Integer::parse(text) {
        // Digits alone are decimal, although most other forms allow them.
        if text.len() <= 20
            && let Ok(id) = number.id()
        {
            take(Form::Id(TextForm::Decimal), id, &NUMBER);
        }
        return;
    }
    let hex = Form::Id(TextForm::Hex);
    if let [b'0', b'x' | b'X', digits @ ..] = text
        && (1..=16).contains(&digits.len())
        && let Some(id) = wide(digits, TextForm::Hex, 4)
    {
        take(hex, id as u64, &NUMBER);
    }
    // Hex of a number below 2^60 without the leading zero, as Sonyflakes are often printed.
    if text.len() == 15
        && let Some(id) = wide(text, TextForm::Hex, 4)
    {
        take(hex, id as u64, &HEX_15);
    }
    for form in TextForm::ALL {
        if let Ok(id) = form.decode(text) {
            take(Form::Id(form), id, if form == TextForm::Base32 { &BASE32 } else { &TEXT });
        }
    }
    if text.len() == 13
        && let Some(id) = fold(text, 5, sortable_digit)
    {
        take(Form::Base32Sortable, id, &BASE32_SORTABLE);
    }
    // A leading A would be a zero.
    if matches!(text.len(), 10 | 11)
        && text[0] != b'A'
        && let Some(id) = fold(text, 6, base64url_digit)
        && !is_word(text)
    {
        take(Form::Base64Url, id, &BASE64URL);
    }
    if let Some(id) = prefix::any_prefix::<u64>(text) {
        take(Form::Prefixed, id, &PREFIXED);
    }
}

/// Returns the digits as a number, if it has at most 64 bits.
fn fold(text: &[u8], bits: u32, digit: fn(u8) -> Option<u8>) -> Option<u64> {
    let number = text.iter().try_fold(0u128, |number, byte| Some(number << bits | u128::from(digit(*byte)?)))?;
    u64::try_from(number).ok()
}

const fn sortable_digit(byte: u8) -> Option<u8> {
    match byte {
        b'2'..=b'7' => Some(byte - b'2'),
        b'a'..=b'z' => Some(byte - b'a' + 6),
        _ => None,
    }
}

const fn base64url_digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}

/// Returns whether a text in base 64 could be the ID of a `YouTube` video: it has 11 digits, and the low two bits of
/// the last digit are 0.
pub(super) fn may_be_a_video(text: &[u8]) -> bool {
    text.len() == 11 && text.last().and_then(|byte| base64url_digit(*byte)).is_some_and(|digit| digit % 4 == 0)
}

/// Returns whether a text in base 64 is a word or a name: it lacks upper or lower case, or seldom changes from a class of
/// characters to another. About 1 % of all IDs look so too.
fn is_word(text: &[u8]) -> bool {
    let class = |byte: &u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let changes = text.windows(2).filter(|pair| class(&pair[0]) != class(&pair[1])).count();
    let letters = text.iter().all(u8::is_ascii_alphabetic);
    let most = if letters && text.len() == 10 { 3 } else { 2 };
    let has = |wanted: u8| text.iter().any(|byte| class(byte) == wanted);
    changes <= most || !has(0) || !has(1)
}

/// Hands every reading of `text` as another ID to `take`.
pub(super) fn others(text: &[u8], mut take: impl FnMut(Form, Kind)) {
    let (form, uuid) = match text {
        [b'{', uuid @ .., b'}'] => (Form::UuidBraces, uuid),
        _ => match text.split_at_checked(9) {
            Some((urn, uuid)) if urn.eq_ignore_ascii_case(b"urn:uuid:") => (Form::UuidUrn, uuid),
            _ => (Form::Uuid, text),
        },
    };
    if let Some(uuid) = Uuid::parse(uuid) {
        take(form, Kind::Uuid(uuid));
    }
    if let Some(uuid) = Uuid::parse_hex(text) {
        take(Form::UuidHex, Kind::Uuid(uuid));
        let unswapped = uuid.unswapped();
        if unswapped.version() == Some(1) {
            take(Form::UuidSwapped, Kind::Uuid(unswapped));
        }
    }
    if let Some(ulid) = Ulid::parse(text) {
        take(Form::Ulid, Kind::Ulid(ulid));
    }
    if let Some(uuid) = prefix::any_prefix::<Uuid>(text) {
        take(Form::Prefixed, Kind::TypeId(uuid));
    }
    if let Some(kind) = text_id(text) {
        take(kind.form(), kind);
    }
    if let Some(object_id) = ObjectId::parse(text) {
        take(Form::ObjectId, Kind::ObjectId(object_id));
    }
}
