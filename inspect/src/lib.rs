#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]
// Casts to `usize` and `u32` here follow a check of the range, on the line before or in the type's constructor.
#![allow(clippy::cast_possible_truncation)]

#[cfg(feature = "audit")]
extern crate alloc;

#[cfg(feature = "audit")]
pub mod audit;
pub mod inspect;
pub mod sql;

pub use self::inspect::inspect;
