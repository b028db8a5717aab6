//! `snowmint sequence virtual`: lists a range by its name. It needs no store.

use std::io::Write as _;

use serde::Serialize;
use snowmint_core::sequence::by_name;

use super::output::Output;
use crate::exit::Exit;
use crate::json;

/// How many numbers one write takes at most.
const MAX_BATCH: usize = 4096;

#[derive(Serialize)]
struct Line {
    id: String,
}

/// Prints the numbers of a range such as `seq_1_to_15_step_3`, one per line.
///
/// # Errors
/// `Wrong` for another name; the errors of standard output.
pub fn virtual_range(name: &str, as_json: bool) -> Result<u8, Exit> {
    let mut numbers = by_name(name)?;
    let (mut out, mut lines) = (Output::new(), Vec::new());
    while !numbers.is_empty() {
        lines.clear();
        for number in numbers.by_ref().take(MAX_BATCH) {
            if as_json {
                json::write_line(&mut lines, &Line { id: number.to_string() })?;
            } else {
                writeln!(lines, "{number}")?;
            }
        }
        out.write_all(&lines)?;
    }
    out.flush()?;
    Ok(0)
}
