//! The options of a generator and their only defaults.

use core::time::Duration;

use crate::error::{Error, What};
use crate::mutant;

/// Where the sequence begins in a new tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SequenceStart {
    /// At 0.
    #[default]
    Zero,
    /// At a random number in the lower half of the sequence field, so that IDs minted at low load spread over shards.
    Random,
    /// At one more than the last ID's sequence, so that IDs minted at low load spread over shards. It wraps to 0
    /// between ticks, never within a tick.
    Carry,
}

impl SequenceStart {
    /// All starts.
    pub const ALL: [Self; 3] = [Self::Zero, Self::Random, Self::Carry];

    /// Returns the name of this start in every language.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::SequenceStart;
    /// assert_eq!(SequenceStart::ALL.map(SequenceStart::name), ["zero", "random", "carry"]);
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::Random => "random",
            Self::Carry => "carry",
        }
    }

    /// Returns the start with this name.
    ///
    /// # Errors
    /// `InvalidText`, if no start has this name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::SequenceStart;
    /// assert_eq!(SequenceStart::find("carry"), Ok(SequenceStart::Carry));
    /// assert!(SequenceStart::find("one").is_err());
    /// ```
    pub fn find(name: impl AsRef<[u8]>) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|start| start.name().as_bytes() == name.as_ref());
        found.ok_or(Error::plain(What::Start))
    }
}

/// How a generator deals with the clock.
///
/// | option | meaning | default | with an event loop ([`Options::EVENT_LOOP`]) | of hosts that cannot block ([`Options::NONBLOCKING`]) |
/// | --- | --- | --- | --- | --- |
/// | `max_ahead_ms` | how far IDs may run ahead of the clock: the limit for a clock set back, a frozen clock and bursts | 0 | 0 | 1000 |
/// | `max_wait_ms` | how long one call may wait for the clock | 1000 | 100 | 0 |
/// | `sequence_start` | where the sequence begins in a new tick | [`SequenceStart::Zero`] | the same | the same |
/// | `seed` | random bits of the host, for [`SequenceStart::Random`] and `random` fields | 0 | 0 | 0 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// How far IDs may run ahead of the clock, in ms.
    pub max_ahead_ms: u64,
    /// How long one call may wait for the clock, in ms.
    pub max_wait_ms: u64,
    /// Where the sequence begins in a new tick.
    pub sequence_start: SequenceStart,
    /// Random bits of the host. They spread IDs; IDs are unique without them.
    pub seed: u64,
}

impl Options {
    /// The defaults.
    pub const DEFAULT: Self = Self { max_ahead_ms: 0, max_wait_ms: 1000, sequence_start: SequenceStart::Zero, seed: 0 };

    /// The defaults of a host with an event loop, such as Node, in which a call that waits stops all other work.
    pub const EVENT_LOOP: Self = Self { max_wait_ms: 100, ..Self::DEFAULT };

    /// The defaults of browsers and edge runtimes, which cannot block and whose clock may stand still.
    pub const NONBLOCKING: Self = Self { max_ahead_ms: 1000, max_wait_ms: 0, ..Self::DEFAULT };

    /// Sets how far IDs may run ahead of the clock, in whole ms.
    ///
    /// # Examples
    /// ```
    /// use core::time::Duration;
    /// use snowmint_core::Options;
    /// assert_eq!(Options::DEFAULT.max_ahead(Duration::from_secs(1)).max_ahead_ms, 1000);
    /// ```
    #[must_use]
    pub fn max_ahead(mut self, max_ahead: Duration) -> Self {
        self.max_ahead_ms = whole_ms(max_ahead);
        self
    }

    /// Sets how long one call may wait for the clock, in whole ms.
    ///
    /// # Examples
    /// ```
    /// use core::time::Duration;
    /// use snowmint_core::Options;
    /// assert_eq!(Options::DEFAULT.max_wait(Duration::from_secs(2)).max_wait_ms, 2000);
    /// ```
    #[must_use]
    pub fn max_wait(mut self, max_wait: Duration) -> Self {
        self.max_wait_ms = whole_ms(max_wait);
        self
    }

    /// Sets where the sequence begins in a new tick.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Options, SequenceStart};
    /// assert_eq!(Options::DEFAULT.sequence_start(SequenceStart::Carry).sequence_start, SequenceStart::Carry);
    /// ```
    #[must_use]
    pub const fn sequence_start(mut self, start: SequenceStart) -> Self {
        self.sequence_start = start;
        self
    }

    /// Returns how long to sleep before the refused call is tried again, in ms; 0 to give up.
    ///
    /// `wanted_ms` is the error's [`wait_ms`](crate::Error::wait_ms). `waited_ms` is how long the call has waited so
    /// far, by a clock that never steps. Sleeps are at most 10 ms, so that the generator notices when a wrong clock is
    /// corrected.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Options;
    /// let options = Options { max_wait_ms: 100, ..Options::DEFAULT };
    /// assert_eq!([0, 97, 100].map(|waited_ms| options.pause_ms(5, waited_ms)), [5, 3, 0]);
    /// assert_eq!(options.pause_ms(50, 0), 10);
    /// ```
    pub fn pause_ms(&self, wanted_ms: u64, waited_ms: u64) -> u64 {
        let left_ms = if mutant::removes("deadline") { wanted_ms } else { self.max_wait_ms.saturating_sub(waited_ms) };
        wanted_ms.min(left_ms).min(MAX_PAUSE_MS)
    }
}

const MAX_PAUSE_MS: u64 = 10;

/// Returns a duration in whole ms, at most 2^64-1.
pub fn whole_ms(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

impl Default for Options {
    fn default() -> Self {
        Self::DEFAULT
    }
}
