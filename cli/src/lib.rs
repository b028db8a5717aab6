#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod arguments;
mod exit;
pub mod json;
mod program;
pub mod tables;
mod verbs;

pub use self::arguments::{AFTER_HELP, Verb, instant};
pub use self::exit::{Exit, complain, of_arguments};
pub use self::program::{Host, main};
pub use self::verbs::input::integer;
pub use self::verbs::progress::working;
pub use self::verbs::sequence::virtual_range;
