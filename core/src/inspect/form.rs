//! The forms in which a text can be an ID.

use super::Kind;
use crate::int::Integer;
use crate::object_id::ObjectId;
use crate::text::{TextForm, wide};
use crate::ulid::Ulid;
use crate::uuid::Uuid;

/// The form in which an inspected ID was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// An integer, not a text.
    Integer,
    /// A text form of an ID. `hex` may start with `0x`; `decimal` may have fewer digits and a minus sign.
    Id(TextForm),
    /// A UUID of 36 characters with hyphens.
    Uuid,
    /// A UUID with hyphens, in braces.
    UuidBraces,
    /// A UUID with hyphens, after `urn:uuid:`.
    UuidUrn,
    /// A UUID of 32 hexadecimal digits.
    UuidHex,
    /// 32 hexadecimal digits of a version 1 that `MySQL`'s `UUID_TO_BIN(uuid, 1)` has swapped.
    UuidSwapped,
    /// A ULID: 26 characters of Crockford's base 32.
    Ulid,
    /// An `ObjectId`: 24 hexadecimal digits.
    ObjectId,
}

impl Form {
    /// Returns the name of this form in every language, such as `"uuid_braces"`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{TextForm, inspect::Form};
    /// assert_eq!((Form::Id(TextForm::Hex).name(), Form::UuidBraces.name()), ("hex", "uuid_braces"));
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Id(form) => form.name(),
            Self::Uuid => "uuid",
            Self::UuidBraces => "uuid_braces",
            Self::UuidUrn => "uuid_urn",
            Self::UuidHex => "uuid_hex",
            Self::UuidSwapped => "uuid_swapped",
            Self::Ulid => "ulid",
            Self::ObjectId => "object_id",
        }
    }
}

/// The largest number of forms of an ID that a text can have: 13 characters can be decimal, base 32 and base 36.
pub(super) const MAX_FORMS: usize = 3;

/// Hands every reading of `text` as a 64-bit ID to `take`, with its surprise in bits: how rare such a text is in this
/// form.
pub(super) fn ids(text: &[u8], mut take: impl FnMut(Form, u64, u32)) {
    if text.len() <= 20
        && let Some(Ok(id)) = Integer::parse(text).map(Integer::id)
    {
        take(Form::Id(TextForm::Decimal), id, 0);
    }
    if let [b'0', b'x' | b'X', digits @ ..] = text
        && (1..=16).contains(&digits.len())
        && let Some(id) = wide(digits, TextForm::Hex, 4)
    {
        take(Form::Id(TextForm::Hex), id as u64, 0);
    }
    // Hex of a number below 2^60 without the leading zero, as Sonyflakes are often printed.
    if text.len() == 15
        && let Some(id) = wide(text, TextForm::Hex, 4)
    {
        take(Form::Id(TextForm::Hex), id as u64, if text.iter().all(u8::is_ascii_digit) { 10 } else { 0 });
    }
    // A text of digits alone is likely decimal: in hex only (10/16)^16 of all texts have no letter, and so on.
    let rare = text.iter().all(u8::is_ascii_digit);
    let forms = [
        (TextForm::Hex, 11),
        (TextForm::Base32, 22),
        (TextForm::Base36, 24),
        (TextForm::Base58, 30),
        (TextForm::Base62, 29),
    ];
    for (form, surprise) in forms {
        if let Ok(id) = form.decode(text) {
            take(Form::Id(form), id, if rare { surprise } else { 0 });
        }
    }
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
    if let Some(object_id) = ObjectId::parse(text) {
        take(Form::ObjectId, Kind::ObjectId(object_id));
    }
}
