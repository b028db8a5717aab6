//! The number of numbers in a fetch.

use crate::error::{Error, What};
use crate::int::Integer;

/// The largest step that can be configured: `leaf_alloc.step` is an `int`.
pub const MAX_STEP: u64 = (1 << 31) - 1;
/// Doubling stops at this step; `MAX_STEP` of `Meituan-Dianping/Leaf`.
pub const MAX_DOUBLED_STEP: u64 = 1_000_000;
/// A range that lasts shorter doubles the step, in ms; `SEGMENT_DURATION` of `Meituan-Dianping/Leaf`, 15 minutes.
pub const SHORT_MS: u64 = 15 * 60 * 1000;
/// A range that lasts this long or longer halves the step, in ms: 30 minutes.
pub const LONG_MS: u64 = 2 * SHORT_MS;
/// The largest number of steps in one fetch.
pub const MAX_DEPTH: u64 = 16;

/// The step, which adapts as in Leaf, and the depth, which adapts as in `CosId`.
///
/// | fetch | time since the last fetch | step |
/// | --- | --- | --- |
/// | first, second | any | the configured step |
/// | third and later | less than 15 minutes | doubled, unless the double is more than 1,000,000 |
/// | | less than 30 minutes | unchanged |
/// | | 30 minutes or more | halved, unless the half is less than the configured step |
///
/// The depth is the number of steps in a fetch. From the third fetch on it doubles, up to [`MAX_DEPTH`], if a caller
/// found both ranges empty since the last fetch; otherwise it halves, down to one. The rule for steps comes from
/// `updateSegmentFromDb` of `Meituan-Dianping/Leaf`, the rule for the depth from the segment chain of
/// `Ahoo-Wang/CosId`.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    configured: u64,
    step: u64,
    depth: u64,
    hungry: bool,
    fetched_once: bool,
    /// When the last fetch ended, not counting the first fetch.
    last_ms: Option<u64>,
}

/// A fetch of `step * depth` numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    step: u64,
    depth: u64,
}

impl Pace {
    /// Returns the number of numbers, at most 2^35.
    pub(super) const fn amount(self) -> u64 {
        self.step * self.depth
    }
}

impl Pacer {
    /// Makes a pacer with a configured step: the step of the first two fetches, and the least step.
    ///
    /// # Errors
    /// `InvalidId`, if the step is not 1 to [`MAX_STEP`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::segment::{MAX_STEP, Pacer};
    /// assert_eq!(Pacer::new(Integer::from(2000))?.step(0), 2000);
    /// assert!(Pacer::new(Integer::from(MAX_STEP + 1)).is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn new(step: Integer) -> Result<Self, Error> {
        match step {
            Integer::Fits(step) if step >= 1 && step <= MAX_STEP => {
                Ok(Self { configured: step, step, depth: 1, hungry: false, fetched_once: false, last_ms: None })
            }
            given => Err(given.refused(What::StepSize, 0)),
        }
    }

    /// Changes the configured step, and raises the present step to it.
    ///
    /// # Errors
    /// `InvalidId`, if the step is not 1 to [`MAX_STEP`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::segment::Pacer;
    /// let mut pacer = Pacer::new(Integer::from(2000))?;
    /// pacer.configure(Integer::from(5000))?;
    /// assert_eq!(pacer.step(0), 5000);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn configure(&mut self, step: Integer) -> Result<(), Error> {
        self.configured = Self::new(step)?.configured;
        self.step = self.step.max(self.configured);
        Ok(())
    }

    /// Returns the step of a fetch that begins now, in numbers. `now_ms` is the time of a clock that never steps.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::segment::Pacer;
    /// // The first two fetches take the configured step.
    /// assert_eq!(Pacer::new(Integer::from(2000))?.step(0), 2000);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn step(&self, now_ms: u64) -> u64 {
        let Some(last_ms) = self.last_ms else { return self.configured };
        let lasted_ms = now_ms.saturating_sub(last_ms);
        let (double, half) = (self.step * 2, self.step / 2);
        if lasted_ms < SHORT_MS && double <= MAX_DOUBLED_STEP {
            double
        } else if lasted_ms >= LONG_MS && half >= self.configured {
            half
        } else {
            self.step
        }
    }

    /// Notes that a caller found both ranges empty. Before the first fetch this does not count.
    pub(super) const fn hunger(&mut self) {
        self.hungry = self.fetched_once;
    }

    /// Returns the step and depth of a fetch that begins now.
    pub(super) fn pace(&self, now_ms: u64) -> Pace {
        let depth = match self.last_ms {
            None => 1,
            Some(_) if self.hungry => (self.depth * 2).min(MAX_DEPTH),
            Some(_) => (self.depth / 2).max(1),
        };
        Pace { step: self.step(now_ms), depth }
    }

    /// Notes that a fetch has begun: callers that find no number after this affect the next fetch.
    pub(super) const fn begin(&mut self) {
        self.hungry = false;
    }

    /// Notes that the fetch brought numbers at `now_ms`. A failed fetch changes nothing.
    pub(super) fn fetched(&mut self, pace: Pace, now_ms: u64) {
        if self.fetched_once {
            self.last_ms = Some(now_ms);
        }
        self.fetched_once = true;
        self.step = pace.step.max(self.configured);
        self.depth = pace.depth;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE_MS: u64 = 60_000;

    /// Fetches after each of these waits in minutes, and returns the steps.
    fn steps<const N: usize>(configured: u64, minutes: [u64; N]) -> [u64; N] {
        let mut pacer = Pacer::new(Integer::from(configured)).expect("valid");
        let mut now_ms = 7;
        minutes.map(|minutes| {
            now_ms += minutes * MINUTE_MS;
            let pace = pacer.pace(now_ms);
            assert_eq!((pace.step, pace.depth), (pacer.step(now_ms), 1));
            pacer.fetched(pace, now_ms);
            pace.step
        })
    }

    #[test]
    fn the_step_adapts_from_the_third_fetch_on() {
        assert_eq!(
            steps(2000, [0, 0, 0, 14, 15, 29, 30, 30, 30]),
            [2000, 2000, 4000, 8000, 8000, 8000, 4000, 2000, 2000]
        );
        assert_eq!(steps(2000, [0, 600, 14]), [2000, 2000, 4000], "the time to the second fetch does not count");
        assert_eq!(steps(3, [0, 0, 1, 1, 40, 40, 40]), [3, 3, 6, 12, 6, 3, 3]);
    }

    #[test]
    fn a_step_is_not_doubled_above_a_million() {
        assert_eq!(steps(600_000, [0, 0, 1, 1]), [600_000; 4]);
        assert_eq!(steps(500_000, [0, 0, 1, 1]), [500_000, 500_000, 1_000_000, 1_000_000]);
        assert_eq!(steps(MAX_STEP, [0, 0, 1, 40]), [MAX_STEP; 4]);
    }

    #[test]
    fn a_step_is_not_halved_below_the_configured_step() {
        let mut pacer = Pacer::new(Integer::from(1000u64)).expect("valid");
        for now_ms in [0, 0, 1, 2] {
            pacer.fetched(pacer.pace(now_ms), now_ms);
        }
        pacer.configure(Integer::from(3000u64)).expect("valid");
        assert_eq!(pacer.step(2 + LONG_MS), 4000);
        pacer.configure(Integer::from(5000u64)).expect("valid");
        assert_eq!(pacer.step(2 + LONG_MS), 5000);
        assert_eq!(pacer.step(2 + LONG_MS - 1), 5000);
        assert_eq!(pacer.step(2 + SHORT_MS - 1), 10_000);
    }

    #[test]
    fn a_failed_fetch_leaves_the_step() {
        let mut pacer = Pacer::new(Integer::from(10u64)).expect("valid");
        for now_ms in [0, 0, 0] {
            pacer.fetched(pacer.pace(now_ms), now_ms);
        }
        assert_eq!([0; 3].map(|now_ms| pacer.pace(now_ms).step), [40; 3]);
    }

    #[test]
    fn empty_ranges_double_the_depth_and_full_ranges_halve_it() {
        let mut pacer = Pacer::new(Integer::from(600_000u64)).expect("valid");
        let mut fetch = |hungry| {
            if hungry {
                pacer.hunger();
            }
            let pace = pacer.pace(0);
            pacer.begin();
            pacer.fetched(pace, 0);
            pace.amount() / 600_000
        };
        assert_eq!([true; 7].map(&mut fetch), [1, 1, 2, 4, 8, 16, 16]);
        assert_eq!([false; 5].map(&mut fetch), [8, 4, 2, 1, 1]);
    }

    #[test]
    fn a_step_is_one_to_2_147_483_647_numbers() {
        for given in [Integer::from(0u64), Integer::from(MAX_STEP + 1), Integer::from(-1i64), Integer::Above] {
            let error = Pacer::new(given).expect_err("no step");
            assert_eq!(error.kind(), crate::ErrorKind::InvalidId);
        }
        let error = Pacer::new(Integer::from(-1i64)).expect_err("no step");
        assert_eq!(std::format!("{error}"), "a step is 1 to 2147483647 numbers, not -1");
    }

    extern crate std;
}
