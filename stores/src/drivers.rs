//! Leases on behalf of remote holders.

mod leases;

pub use self::leases::{Granted, Leases};
