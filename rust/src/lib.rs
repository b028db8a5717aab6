#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod snowflake;

pub use snowmint_core::{
    ErrorKind, Field, Integer, Layout, MAX_BATCH, Name, ObjectId, Options, Parts, SequenceStart, TextForm, Ulid, Uuid,
    UuidVariant, Window, inspect, layouts, scatter, sql,
};
pub use snowmint_stores::{Error, LeaseOptions, LeaseStore, OnLost, Status, object_id, ulid, uuid};

pub use self::snowflake::Snowflake;

/// The crates below this one: the rules, and the stores.
pub use {snowmint_core as core, snowmint_stores as stores};
