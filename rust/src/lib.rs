#![doc = include_str!("../README.md")]

mod lease;
mod snowflake;

pub use snowmint_core::{
    ErrorKind, Field, Integer, Layout, MAX_BATCH, Name, ObjectId, Options, Parts, SequenceStart, TextForm, Ulid, Uuid,
    UuidVariant, Window, inspect, layouts, scatter, sql,
};
pub use snowmint_stores::{Error, OnLost, Status, object_id, ulid, uuid};

pub use self::lease::Lease;
pub use self::snowflake::Snowflake;

/// The crates that this one is made of: the rules, and where grants live.
pub use {snowmint_core as core, snowmint_stores as stores};
