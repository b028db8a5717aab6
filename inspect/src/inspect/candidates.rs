//! The list of candidates, and its order.

use core::ops::Deref;

use super::candidate::{Candidate, Confidence, Doubt};
use super::form::Form;
use super::kind::Kind;
use super::reading::Rule;
use super::spread::BIT;
use super::system::{self, SYSTEM_COUNT, SYSTEMS};
use super::text_id;
use snowmint_core::Uuid;

/// Candidates whose costs differ by less are equally plausible; by this and more, the cheaper one is sure.
const EQUAL_COST: u32 = 3 * BIT;
const CLEAR_COST: u32 = 6 * BIT;
/// The cost of an ID of an unknown system.
const UNKNOWN_COST: u32 = 68 * BIT;
/// IDs in a form that no system prints cost at most this, or the text is anything else.
const STRUCTURED_COST: u32 = 56 * BIT;
/// A number has a candidate for each system. A text has at most that many plausible ones; some texts have two forms.
const CAPACITY: usize = SYSTEM_COUNT + 11;

/// The candidates of [`inspect`](super::inspect), the most plausible first: a slice that needs no allocator.
#[derive(Clone, Copy, Debug)]
pub struct Candidates {
    rows: [Candidate; CAPACITY],
    len: usize,
}

impl Candidates {
    pub(super) const fn new() -> Self {
        // Rows beyond the last candidate are never read.
        let none = Candidate {
            kind: Kind::Uuid(Uuid::NIL),
            form: Form::Uuid,
            timestamp_ms: None,
            extra_us: 0,
            doubt: Doubt::None,
            confidence: Confidence::Low,
            cost: 0,
            other_ms: 0,
        };
        Self { rows: [none; CAPACITY], len: 0 }
    }

    fn add(&mut self, candidate: Candidate) {
        if let Some(row) = self.rows.get_mut(self.len) {
            *row = candidate;
            self.len += 1;
        }
    }

    pub(super) fn add_id(&mut self, form: Form, id: u64, rule: &Rule, extra: u32, now_ms: i64) {
        for system in &SYSTEMS {
            let is_own = rule.own.contains(&system.name);
            let Some(foreign) = (if is_own { Some(0) } else { rule.others }) else { continue };
            let Some(mut candidate) = Candidate::snowflake(system, form, id, now_ms) else { continue };
            let is_structured = candidate.cost - system.rare <= STRUCTURED_COST;
            if (candidate.doubt != Doubt::None && !rule.lists_unlikely)
                || (rule.needs_structure && !is_own && !is_structured)
            {
                continue;
            }
            candidate.cost += foreign * BIT + extra;
            self.add(candidate);
        }
    }

    pub(super) fn add_other(&mut self, form: Form, kind: Kind, now_ms: i64) {
        let (timestamp_ms, begins_ms) = match kind {
            Kind::Uuid(uuid) | Kind::TypeId(uuid) if matches!(uuid.version(), Some(1 | 2)) => {
                (uuid.timestamp_ms(), system::UUID_V1)
            }
            Kind::Uuid(uuid) | Kind::TypeId(uuid) => (uuid.timestamp_ms(), system::UUID_V7),
            Kind::Ulid(ulid) => (Some(ulid.timestamp_ms()), system::ULID),
            Kind::ObjectId(id) => (Some(id.timestamp_ms()), system::OBJECT_ID),
            _ => match text_id::time_of(&kind) {
                Some((timestamp_ms, begins_ms)) => (Some(timestamp_ms), begins_ms),
                None => return,
            },
        };
        // If only one of two readings of a UUID, swapped or not, has a time, it is hardly there by chance.
        let cost = if timestamp_ms.is_some() { 0 } else { CLEAR_COST };
        let candidate = Candidate::judged(kind, form, timestamp_ms, cost, [0, begins_ms, now_ms]);
        // Any text of the right length can be one of these kinds, so the time must be right.
        if candidate.doubt == Doubt::None || text_id::time_of(&kind).is_none() {
            self.add(candidate);
        }
    }

    /// Sorts by insertion, which keeps the order of equal rows and is fast enough for some dozen rows. Then it says how
    /// sure each place is.
    pub(super) fn sort(&mut self) {
        let rows = &mut self.rows[..self.len];
        let place = |row: &Candidate| (row.doubt, row.cost);
        for end in 1..rows.len() {
            let mut at = end;
            while at > 0 && place(&rows[at]) < place(&rows[at - 1]) {
                rows.swap(at, at - 1);
                at -= 1;
            }
        }
        let plausible = rows.iter().take_while(|row| row.doubt == Doubt::None);
        let least = rows.first().map_or(0, |row| row.cost);
        let equal = plausible.clone().filter(|row| row.cost - least < EQUAL_COST).count();
        let next = plausible.map(|row| row.cost).nth(1).unwrap_or(UNKNOWN_COST).min(UNKNOWN_COST);
        let first = match next.saturating_sub(least) {
            _ if equal > 1 => Confidence::Tied,
            CLEAR_COST.. => Confidence::High,
            EQUAL_COST.. => Confidence::Medium,
            _ => Confidence::Low,
        };
        for (at, row) in rows.iter_mut().enumerate() {
            row.confidence = match row.doubt {
                Doubt::None if at < equal => first,
                Doubt::None => Confidence::Low,
                _ => Confidence::Unlikely,
            };
        }
    }
}

impl Deref for Candidates {
    type Target = [Candidate];

    fn deref(&self) -> &[Candidate] {
        &self.rows[..self.len]
    }
}

impl<'a> IntoIterator for &'a Candidates {
    type Item = &'a Candidate;
    type IntoIter = core::slice::Iter<'a, Candidate>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
