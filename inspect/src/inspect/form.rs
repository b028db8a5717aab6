//! The forms in which a text can be an ID.

use snowmint_core::TextForm;

/// The form in which an inspected ID was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// An integer, not a text.
    Integer,
    /// A text form of an ID. `hex` may start with `0x` or have 15 digits; `decimal` may have fewer digits and a minus sign.
    Id(TextForm),
    /// 10 or 11 characters of base 64 for URLs, as Instagram writes its IDs.
    Base64Url,
    /// 13 characters of the base 32 `234567a-z`, as Bluesky writes its IDs.
    Base32Sortable,
    /// A prefix, `_`, and 13 characters for a 64-bit ID or 26 for a UUID; see [`prefix`](snowmint_core::prefix).
    Prefixed,
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
    /// A KSUID: 27 characters of base 62.
    Ksuid,
    /// An xid: 20 characters `0-9 a-v`.
    Xid,
    /// A push ID of Firebase: 20 characters, the first of them `-`.
    FirebasePushId,
    /// A cuid: `c` and 24 characters of base 36.
    Cuid,
    /// A SCRU128 ID: 25 characters of base 36.
    Scru128,
    /// The ID of an entry in a stream of Redis: ms, `-`, a sequence.
    RedisStreamId,
    /// A trace ID of AWS X-Ray: `1-`, 8 hexadecimal digits, `-`, 24 hexadecimal digits.
    XrayTraceId,
    /// An ID of Misskey: 16 characters of base 36.
    Aidx,
}

impl Form {
    /// Returns the name of this form in every language, such as `"uuid_braces"`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::TextForm;
    /// use snowmint_inspect::inspect::Form;
    /// assert_eq!((Form::Id(TextForm::Hex).name(), Form::UuidBraces.name()), ("hex", "uuid_braces"));
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Id(form) => form.name(),
            Self::Base64Url => "base64url",
            Self::Base32Sortable => "base32_sortable",
            Self::Prefixed => "prefixed",
            Self::Uuid => "uuid",
            Self::UuidBraces => "uuid_braces",
            Self::UuidUrn => "uuid_urn",
            Self::UuidHex => "uuid_hex",
            Self::UuidSwapped => "uuid_swapped",
            Self::Ulid => "ulid",
            Self::ObjectId => "object_id",
            Self::Ksuid => "ksuid",
            Self::Xid => "xid",
            Self::FirebasePushId => "firebase_push_id",
            Self::Cuid => "cuid",
            Self::Scru128 => "scru128",
            Self::RedisStreamId => "redis_stream_id",
            Self::XrayTraceId => "xray_trace_id",
            Self::Aidx => "aidx",
        }
    }
}
