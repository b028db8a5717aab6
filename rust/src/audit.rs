//! Reads a pile of IDs and says why there are duplicates: `snowmint audit`, the same in every language.
//!
//! ```
//! use snowmint::audit::{Audit, AuditOptions};
//! use snowmint::core::audit::Kind;
//! use snowmint::{Snowflake, layouts::SNOWMINT};
//!
//! let generator = Snowflake::new(&SNOWMINT, 5)?;
//! let mut audit = Audit::new(&SNOWMINT, &AuditOptions::default());
//! for _ in 0..100 {
//!     audit.add(generator.next_id()?);
//! }
//! let report = audit.finish();
//! assert_eq!((report.findings().len(), report.nodes().len()), (0, 1));
//! # Ok::<(), snowmint::Error>(())
//! ```

pub use snowmint_core::audit::{Audit, AuditOptions, Report};
