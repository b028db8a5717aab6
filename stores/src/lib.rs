#![doc = include_str!("../README.md")]

mod environment;
mod error;
mod file;
mod fork;
mod generator;
mod heeding;
mod lease;
mod namespace;
mod plan;
mod process;
mod system;

pub use self::error::Error;
#[doc(hidden)]
pub use self::file::record;
pub use self::generator::{Generator, Status};
pub use self::lease::OnLost;
pub use self::namespace::Namespace;
pub use self::plan::{Config, Environment};
pub use self::system::SystemHost;
