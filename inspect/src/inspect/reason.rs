//! The reason for the place of a candidate, in one sentence.

use core::fmt;

use super::candidate::{Candidate, Confidence, Doubt};
use super::kind::Kind;
use super::system::PINTEREST;
use super::text_id::counter_of;
use snowmint_core::time::{DAY_MS, write_date};
use snowmint_core::{Uuid, UuidVariant};

impl Candidate {
    /// Returns why the candidate is plausible or not: a short sentence to display.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 1_790_000_000_000);
    /// assert_eq!(candidates[0].reason().to_string(), "version 7, time 2022-02-22, 4.5 years before now");
    /// ```
    pub const fn reason(&self) -> Reason<'_> {
        Reason(self)
    }
}

/// The message; displaying it makes its text.
#[derive(Clone, Copy, Debug)]
pub struct Reason<'a>(&'a Candidate);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let candidate = self.0;
        f.write_str(if candidate.doubt == Doubt::None { "" } else { "unlikely: " })?;
        if let Kind::Uuid(uuid) | Kind::TypeId(uuid) = candidate.kind {
            write_version(f, uuid)?;
        }
        if let Some(timestamp_ms) = candidate.timestamp_ms {
            f.write_str("time ")?;
            write_date(f, timestamp_ms)?;
            f.write_str(", ")?;
            write_span(f, timestamp_ms.abs_diff(candidate.other_ms))?;
            match candidate.doubt {
                Doubt::BeforeSystem => write!(f, " before {} began", candidate.system().unwrap_or("such IDs"))?,
                Doubt::NearEpoch => f.write_str(" after the epoch")?,
                _ if timestamp_ms > candidate.other_ms => f.write_str(" after now")?,
                _ => f.write_str(" before now")?,
            }
        }
        write_rest(f, candidate)?;
        f.write_str(if candidate.confidence == Confidence::Tied {
            "; other systems explain it equally well"
        } else {
            ""
        })
    }
}

/// Writes the evidence of an ID besides its time.
fn write_rest(f: &mut fmt::Formatter<'_>, candidate: &Candidate) -> fmt::Result {
    match candidate.kind {
        Kind::Snowflake { system: "pinterest", id } => write_pinterest(f, id),
        Kind::Snowflake { .. } => {
            let (Some(layout), Some(parts)) = (candidate.layout(), candidate.parts()) else { return Ok(()) };
            // A layout without a node always has node 0, which is not evidence.
            f.write_str(if layout.nodes() > 1 && parts.node == 0 { "; node 0" } else { "" })?;
            // The same holds for the sequence.
            f.write_str(if layout.ids_per_tick() > 1 && parts.sequence == 0 { "; sequence 0" } else { "" })
        }
        Kind::Uuid(uuid) | Kind::TypeId(uuid) => {
            let (Some(node), Some(clock_sequence)) = (uuid.node(), uuid.clock_sequence()) else { return Ok(()) };
            match uuid.local() {
                None => {}
                Some((domain @ 0..=2, number)) => {
                    write!(f, "; {} {number}", ["user", "group", "organisation"][usize::from(domain)])?;
                }
                Some((domain, number)) => write!(f, "; number {number} of domain {domain}")?,
            }
            f.write_str("; node ")?;
            for (at, byte) in node.to_be_bytes()[2..].iter().enumerate() {
                write!(f, "{}{byte:02x}", if at > 0 { ":" } else { "" })?;
            }
            write!(f, "; clock sequence {clock_sequence}")
        }
        Kind::Xid(xid) => {
            write!(f, "; machine {:06x}, process {}; counter {}", xid.machine(), xid.process(), xid.counter())
        }
        Kind::RedisStreamId(bits) => write!(f, "; sequence {}", bits as u64),
        kind @ (Kind::Cuid(_) | Kind::Aidx(_)) => {
            write!(f, "; counter {}", counter_of(&kind).unwrap_or_default())
        }
        Kind::ObjectId(id) => {
            let (random, machine, process) = (id.random(), id.machine(), id.process());
            write!(f, "; random {random:010x}, or machine {machine:06x} and process {process}")?;
            write!(f, "; counter {}", id.counter())
        }
        _ => Ok(()),
    }
}

fn write_pinterest(f: &mut fmt::Formatter<'_>, id: u64) -> fmt::Result {
    f.write_str("no time")?;
    for (at, (name, shift, width)) in PINTEREST.into_iter().enumerate() {
        let value = (id >> shift) & ((1 << width) - 1);
        write!(
            f,
            "{} {name} {value}{}",
            if at == 0 { ";" } else { "," },
            if at == 1 && value == 1 { " (a pin)" } else { "" }
        )?;
    }
    Ok(())
}

fn write_version(f: &mut fmt::Formatter<'_>, uuid: Uuid) -> fmt::Result {
    match (uuid, uuid.variant(), uuid.version()) {
        (Uuid::NIL, ..) => f.write_str("the nil UUID"),
        (Uuid::MAX, ..) => f.write_str("the max UUID"),
        (_, UuidVariant::Ncs, _) => f.write_str("a UUID of the NCS variant, without a version"),
        (_, UuidVariant::Microsoft, _) => f.write_str("a UUID of the Microsoft variant, without a version"),
        (_, UuidVariant::Future, _) => f.write_str("a UUID of the reserved variant, without a version"),
        (_, _, Some(version @ (1 | 6 | 7))) => write!(f, "version {version}, "),
        (_, _, Some(2)) => f.write_str("version 2, DCE security, "),
        (_, _, Some(3)) => f.write_str("version 3, MD5 of a name"),
        (_, _, Some(4)) => f.write_str("version 4, random"),
        (_, _, Some(5)) => f.write_str("version 5, SHA-1 of a name"),
        (_, _, Some(8)) => f.write_str("version 8, defined by its minter"),
        (_, _, version) => write!(f, "version {}, which is not defined", version.unwrap_or_default()),
    }
}

/// Writes a length of time in its largest unit, rounded down; years have one decimal.
fn write_span(f: &mut fmt::Formatter<'_>, ms: u64) -> fmt::Result {
    const DAY: u64 = DAY_MS.unsigned_abs();
    const YEAR: u64 = DAY * 1461 / 4;
    if ms >= YEAR {
        return write!(f, "{}.{} years", ms / YEAR, ms % YEAR * 10 / YEAR);
    }
    let units = [(DAY, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second")];
    match units.into_iter().find(|(length, _)| ms >= *length) {
        Some((length, unit)) => write!(f, "{} {unit}{}", ms / length, if ms / length > 1 { "s" } else { "" }),
        None => write!(f, "{ms} ms"),
    }
}
