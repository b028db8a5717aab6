//! The kinds of IDs.

use super::form::Form;
use snowmint_core::{Ksuid, ObjectId, Ulid, Uuid, Xid};

/// The kind of an ID, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// An ID of the system with this name.
    #[non_exhaustive]
    Snowflake {
        /// The name: a preset (see [`snowmint_core::layouts`]), or a system whose IDs are only read, such as `tiktok`.
        system: &'static str,
        /// The ID; [`Candidate::parts`](super::Candidate::parts) decodes it.
        id: u64,
    },
    /// A UUID.
    Uuid(Uuid),
    /// A ULID.
    Ulid(Ulid),
    /// An `ObjectId` of `MongoDB`.
    ObjectId(ObjectId),
    /// A `TypeID`: the UUID behind the prefix.
    TypeId(Uuid),
    /// A KSUID.
    Ksuid(Ksuid),
    /// An xid.
    Xid(Xid),
    /// A push ID of Firebase: 48 bits of Unix ms, 72 random bits.
    FirebasePushId(u128),
    /// A cuid, as the number of its 24 digits: 8 of Unix ms, 4 of a counter, 4 of the host, 8 random.
    Cuid(u128),
    /// A SCRU128 ID: 48 bits of Unix ms, two counters of 24 bits, 32 random bits.
    Scru128(u128),
    /// The ID of an entry in a stream of Redis: 64 bits of Unix ms, a sequence of 64 bits.
    RedisStreamId(u128),
    /// A trace ID of AWS X-Ray: 32 bits of Unix seconds, 96 random bits.
    XrayTraceId(u128),
    /// An ID of Misskey, as the number of its 16 digits: 8 of ms since 2000, 4 of the node, 4 of a counter.
    Aidx(u128),
}

impl Kind {
    /// Returns the name of this kind in every language: `"snowflake"`, `"uuid1"` to `"uuid8"`, `"uuid_nil"`,
    /// `"uuid_max"`, `"uuid"` (another variant or version), `"ulid"`, `"object_id"`, `"type_id"`, `"ksuid"`, `"xid"`,
    /// `"firebase_push_id"`, `"cuid"`, `"scru128"`, `"redis_stream_id"`, `"xray_trace_id"`, `"aidx"`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// use snowmint_inspect::inspect::Kind;
    /// assert_eq!(Kind::Uuid(Uuid::v4(0)).name(), "uuid4");
    /// ```
    pub fn name(&self) -> &'static str {
        const VERSIONS: [&str; 8] = ["uuid1", "uuid2", "uuid3", "uuid4", "uuid5", "uuid6", "uuid7", "uuid8"];
        match self {
            Self::Snowflake { .. } => "snowflake",
            Self::Uuid(Uuid::NIL) => "uuid_nil",
            Self::Uuid(Uuid::MAX) => "uuid_max",
            Self::Uuid(uuid) => match uuid.version() {
                Some(version @ 1..=8) => VERSIONS[usize::from(version) - 1],
                _ => "uuid",
            },
            Self::TypeId(_) => "type_id",
            _ => self.form().name(),
        }
    }

    /// Returns the form of the kinds that have one form.
    pub(super) const fn form(&self) -> Form {
        match self {
            Self::Snowflake { .. } => Form::Integer,
            Self::Uuid(_) => Form::Uuid,
            Self::TypeId(_) => Form::Prefixed,
            Self::Ulid(_) => Form::Ulid,
            Self::ObjectId(_) => Form::ObjectId,
            Self::Ksuid(_) => Form::Ksuid,
            Self::Xid(_) => Form::Xid,
            Self::FirebasePushId(_) => Form::FirebasePushId,
            Self::Cuid(_) => Form::Cuid,
            Self::Scru128(_) => Form::Scru128,
            Self::RedisStreamId(_) => Form::RedisStreamId,
            Self::XrayTraceId(_) => Form::XrayTraceId,
            Self::Aidx(_) => Form::Aidx,
        }
    }
}
