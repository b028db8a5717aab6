//! A candidate, and how sure its place is.

use super::form::Form;
use super::kind::Kind;
use super::spread::{BIT, log2};
use super::system::{self, System};
use snowmint_core::time::DAY_MS;
use snowmint_core::{Layout, Parts};

const DAY: u64 = DAY_MS.unsigned_abs();

/// How sure the place of a candidate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Confidence {
    /// The time of the candidate is unlikely.
    Unlikely,
    /// Another candidate explains the ID better, or an ID of an unknown system would look the same.
    Low,
    /// Another candidate explains the ID equally well.
    Tied,
    /// No other candidate explains the ID as well.
    Medium,
    /// All other candidates explain the ID far worse.
    High,
}

impl Confidence {
    /// Returns the name in every language: `"unlikely"`, `"low"`, `"tied"`, `"medium"` or `"high"`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect::{inspect, Confidence};
    /// let candidates = inspect("01ARYZ6S410000000000000000", 1_790_000_000_000);
    /// assert_eq!(candidates[0].confidence(), Confidence::High);
    /// assert_eq!(Confidence::High.name(), "high");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unlikely => "unlikely",
            Self::Low => "low",
            Self::Tied => "tied",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The reason why a time is unlikely, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Doubt {
    None,
    BeforeSystem,
    NearEpoch,
    Future,
}

/// A system that could have minted the inspected ID.
///
/// It is small, because wasm has stacks of some kB and a list has dozens of candidates: parts and reason are made on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    pub(super) kind: Kind,
    pub(super) form: Form,
    pub(super) timestamp_ms: Option<i64>,
    /// The microseconds after `timestamp_ms`.
    pub(super) extra_us: u16,
    pub(super) doubt: Doubt,
    pub(super) confidence: Confidence,
    /// The cost of explaining the ID, in quarters of a bit.
    pub(super) cost: u32,
    /// The instant that the reason compares the time with: now, the begin of the system or the epoch.
    pub(super) other_ms: i64,
}

impl Candidate {
    /// Returns the kind of the ID.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// use snowmint_inspect::inspect::{inspect, Kind};
    /// let candidates = inspect("{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}", 1_790_000_000_000);
    /// let Kind::Uuid(uuid) = candidates[0].kind() else { panic!("a UUID") };
    /// assert_eq!(uuid.version(), Some(7));
    /// ```
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the form in which the text was read.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::TextForm;
    /// use snowmint_inspect::inspect::{inspect, Form};
    /// let candidates = inspect("0x1565a11f6217a000", 1_790_000_000_000);
    /// assert_eq!((candidates[0].form(), candidates[0].system()), (Form::Id(TextForm::Hex), Some("twitter")));
    /// ```
    pub const fn form(&self) -> Form {
        self.form
    }

    /// Returns the time in the ID, Unix ms; `None` if it has no time.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("01ARYZ6S410000000000000000", 1_790_000_000_000);
    /// assert_eq!(candidates[0].timestamp_ms(), Some(1_469_918_176_385));
    /// ```
    pub const fn timestamp_ms(&self) -> Option<i64> {
        self.timestamp_ms
    }

    /// Returns the time in the ID in Unix microseconds; `None` if it has no time. Most IDs have only ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("3laulgolrfz2f", 1_790_000_000_000);
    /// assert_eq!((candidates[0].system(), candidates[0].timestamp_us()), (Some("bluesky"), Some(1_731_543_333_133_695)));
    /// ```
    pub fn timestamp_us(&self) -> Option<i128> {
        Some(i128::from(self.timestamp_ms?) * 1000 + i128::from(self.extra_us))
    }

    /// Returns how sure the place of this candidate is.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect::{inspect, Confidence};
    /// // A tweet of 2014 or an ID of Discord of 2018.
    /// let candidates = inspect("440322224407314432", 1_790_000_000_000);
    /// assert_eq!((candidates[0].system(), candidates[1].system()), (Some("twitter"), Some("discord")));
    /// assert_eq!((candidates[0].confidence(), candidates[1].confidence()), (Confidence::Tied, Confidence::Tied));
    /// ```
    pub const fn confidence(&self) -> Confidence {
        self.confidence
    }

    /// Returns the name of the system of a snowflake, usually the name of a preset; `None` for other kinds.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("175928847299117063", 1_790_000_000_000);
    /// assert!(candidates.iter().any(|candidate| candidate.system() == Some("discord")));
    /// ```
    pub const fn system(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Snowflake { system, .. } => Some(system),
            _ => None,
        }
    }

    /// Returns the layout of the system of a snowflake; `None` for other kinds, and for Pinterest, whose IDs have no time.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("1541815603606036480", 1_790_000_000_000);
    /// assert_eq!(candidates[0].layout(), Some(TWITTER));
    /// ```
    pub fn layout(&self) -> Option<Layout> {
        system::layout(self.system()?).ok()
    }

    /// Returns the parts of a snowflake under the layout of its system; `None` without a layout.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("1541815603606036480", 1_790_000_000_000);
    /// assert_eq!(candidates[0].parts().map(|parts| parts.node), Some(378));
    /// ```
    pub fn parts(&self) -> Option<Parts> {
        match self.kind {
            Kind::Snowflake { id, .. } => self.layout()?.decode(id).ok(),
            _ => None,
        }
    }

    /// Returns whether the time is plausible.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("1541815603606036480", 1_790_000_000_000);
    /// assert!(candidates[0].is_plausible());
    /// // In 2001 no system could have minted it.
    /// assert!(!inspect("1541815603606036480", 1_000_000_000_000)[0].is_plausible());
    /// ```
    pub fn is_plausible(&self) -> bool {
        self.doubt == Doubt::None
    }

    pub(super) fn snowflake(system: &'static System, form: Form, id: u64, now_ms: i64) -> Option<Self> {
        let kind = Kind::Snowflake { system: system.name, id };
        let Some(shape) = &system.shape else {
            return system::is_of_pinterest(id).then(|| Self::judged(kind, form, None, system.cost(id), [0; 3]));
        };
        let (timestamp_ms, extra_us) = shape.time(id)?;
        let (span_ms, fresh) = match timestamp_ms.abs_diff(now_ms) {
            // One ID in eight is younger than a day.
            ..DAY => (DAY, 3 * BIT),
            // From the begin to now, or further if the time lies outside.
            _ => (now_ms.max(timestamp_ms).abs_diff(system.begins_ms.min(timestamp_ms)), 0),
        };
        let ticks = span_ms.saturating_mul(1000) / shape.tick_us();
        let cost = log2(ticks.max(1)) + fresh + system.cost(id);
        let instants = [shape.epoch_ms(), system.begins_ms, now_ms];
        Some(Self { extra_us, ..Self::judged(kind, form, Some(timestamp_ms), cost, instants) })
    }

    pub(super) fn judged(
        kind: Kind,
        form: Form,
        timestamp_ms: Option<i64>,
        cost: u32,
        [epoch_ms, begins_ms, now_ms]: [i64; 3],
    ) -> Self {
        let (doubt, other_ms) = match timestamp_ms {
            Some(ms) if ms > now_ms && ms.abs_diff(now_ms) > DAY => (Doubt::Future, now_ms),
            Some(ms) if ms < begins_ms => (Doubt::BeforeSystem, begins_ms),
            Some(ms) if ms.abs_diff(epoch_ms) < DAY => (Doubt::NearEpoch, epoch_ms),
            _ => (Doubt::None, now_ms),
        };
        Self { kind, form, timestamp_ms, extra_us: 0, doubt, confidence: Confidence::Low, cost, other_ms }
    }
}
