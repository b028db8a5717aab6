//! Leases on behalf of holders elsewhere.

mod leases;

pub use self::leases::{Granted, Leases};
