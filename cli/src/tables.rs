//! Layouts, IDs and audits as the command lines of all languages print them: text of at most 80 columns where names are short,
//! or values for JSON.
#![allow(
    clippy::format_collect,
    clippy::format_push_string,
    reason = "one allocation more does not matter for text that people read"
)]

mod ids;
mod layouts;
mod picture;
mod report;

use snowmint_core::Layout;
use snowmint_core::shown::Grouped;
use snowmint_core::time::Rfc3339;

pub(crate) use self::ids::Decoded;
pub use self::ids::Found;
pub(crate) use self::layouts::{Figures, pictures, table};
pub use self::picture::svg;
pub use self::report::ReportJson;
pub use self::report::text as report;

/// The first instant of the year 1, Unix ms.
const FIRST_DATE_MS: i64 = -62_135_596_800_000;
/// The first instant of the year 10000, Unix ms.
const END_OF_DATES_MS: i64 = 253_402_300_800_000;

/// Returns a headline, bold on a terminal, and the end of its line.
fn headline(text: &str, bold: bool) -> String {
    if bold { format!("\x1b[1m{text}\x1b[0m\n") } else { format!("{text}\n") }
}

/// Returns a number with a comma before each group of three digits.
fn grouped(number: u64) -> String {
    Grouped(number).to_string()
}

/// Returns an instant in RFC 3339, or `None` outside the years 1 to 9999.
fn instant(unix_ms: i64) -> Option<String> {
    (FIRST_DATE_MS..END_OF_DATES_MS).contains(&unix_ms).then(|| Rfc3339(unix_ms).to_string())
}

/// Returns the name of a preset, or the text of another layout.
fn name(layout: &Layout) -> String {
    layout.name().map_or_else(|| layout.to_string(), str::to_owned)
}
