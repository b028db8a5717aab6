//! How many numbers a fetch asks for.

use crate::error::{Error, What};
use crate::int::Integer;

/// The largest step that can be configured: `leaf_alloc.step` is an `int`.
pub const MAX_STEP: u64 = (1 << 31) - 1;
/// No step is doubled past this; `MAX_STEP` of `Meituan-Dianping/Leaf`.
pub const MAX_DOUBLED_STEP: u64 = 1_000_000;
/// A range that lasts less doubles the step, in ms; `SEGMENT_DURATION` of `Meituan-Dianping/Leaf`, 15 minutes.
pub const SHORT_MS: u64 = 15 * 60 * 1000;
/// A range that lasts this long or longer halves the step, in ms: 30 minutes.
pub const LONG_MS: u64 = 2 * SHORT_MS;
/// As many steps at most are fetched as one range for callers who ran dry.
pub const MAX_DEPTH: u64 = 16;

/// The step that adapts itself, as that of Leaf does, and the depth that follows hunger, as in `CosId`.
///
/// | fetch | time since the last one | step |
/// | --- | --- | --- |
/// | first, second | any | the configured one |
/// | each later one | less than 15 minutes | doubled, unless the double is more than 1,000,000 |
/// | | less than 30 minutes | as it was |
/// | | 30 minutes or more | halved, unless the half is less than the configured one |
///
/// From the third fetch on, one that follows a caller who found both ranges dry asks for twice as many steps at once as
/// the one before, up to [`MAX_DEPTH`]; each one without such a caller for half as many, down to one. The steps come from
/// `updateSegmentFromDb` of `Meituan-Dianping/Leaf`, the depth from the segment chain of `Ahoo-Wang/CosId`.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    configured: u64,
    step: u64,
    depth: u64,
    hungry: bool,
    fetched_once: bool,
    /// When the last fetch but the first ended.
    last_ms: Option<u64>,
}

/// A fetch of `step * depth` numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    step: u64,
    depth: u64,
}

impl Pace {
    /// At most 2^35.
    pub(super) const fn amount(self) -> u64 {
        self.step * self.depth
    }
}

impl Pacer {
    /// For a configured step, which is what the first fetches ask for and the least for all.
    ///
    /// # Errors
    /// `InvalidId`, if it is not 1 to [`MAX_STEP`].
    pub const fn new(step: Integer) -> Result<Self, Error> {
        match step {
            Integer::Fits(step) if step >= 1 && step <= MAX_STEP => {
                Ok(Self { configured: step, step, depth: 1, hungry: false, fetched_once: false, last_ms: None })
            }
            given => Err(given.refused(What::StepSize, 0)),
        }
    }

    /// Follows a configured step that has changed; the step at hand is not less than it.
    ///
    /// # Errors
    /// `InvalidId`, if it is not 1 to [`MAX_STEP`].
    pub fn configure(&mut self, step: Integer) -> Result<(), Error> {
        self.configured = Self::new(step)?.configured;
        self.step = self.step.max(self.configured);
        Ok(())
    }

    /// The step of a fetch that begins now, in numbers; `now_ms` is of a clock that never steps.
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

    /// A caller has found both ranges dry. Before the first fetch that is no news.
    pub(super) const fn hunger(&mut self) {
        self.hungry = self.fetched_once;
    }

    /// What a fetch that begins now asks for.
    pub(super) fn pace(&self, now_ms: u64) -> Pace {
        let depth = match self.last_ms {
            None => 1,
            Some(_) if self.hungry => (self.depth * 2).min(MAX_DEPTH),
            Some(_) => (self.depth / 2).max(1),
        };
        Pace { step: self.step(now_ms), depth }
    }

    /// The fetch has begun: who runs dry from here on is a reason for the next one.
    pub(super) const fn begin(&mut self) {
        self.hungry = false;
    }

    /// The fetch has brought numbers, at `now_ms`. A fetch that brought none leaves everything as it was.
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

    /// Fetches after so many minutes each; the steps.
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
    fn the_first_two_fetches_take_the_configured_step_and_then_it_adapts() {
        assert_eq!(
            steps(2000, [0, 0, 0, 14, 15, 29, 30, 30, 30]),
            [2000, 2000, 4000, 8000, 8000, 8000, 4000, 2000, 2000]
        );
        assert_eq!(steps(2000, [0, 600, 14]), [2000, 2000, 4000], "the time to the second fetch does not count");
        assert_eq!(steps(3, [0, 0, 1, 1, 40, 40, 40]), [3, 3, 6, 12, 6, 3, 3]);
    }

    #[test]
    fn a_double_above_a_million_is_no_double() {
        assert_eq!(steps(600_000, [0, 0, 1, 1]), [600_000; 4]);
        assert_eq!(steps(500_000, [0, 0, 1, 1]), [500_000, 500_000, 1_000_000, 1_000_000]);
        assert_eq!(steps(MAX_STEP, [0, 0, 1, 40]), [MAX_STEP; 4]);
    }

    #[test]
    fn a_half_below_the_configured_step_is_no_half() {
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
    fn a_fetch_that_failed_leaves_the_step() {
        let mut pacer = Pacer::new(Integer::from(10u64)).expect("valid");
        for now_ms in [0, 0, 0] {
            pacer.fetched(pacer.pace(now_ms), now_ms);
        }
        assert_eq!([0; 3].map(|now_ms| pacer.pace(now_ms).step), [40; 3]);
    }

    #[test]
    fn hunger_doubles_the_depth_and_its_absence_halves_it() {
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
        for given in [Integer::from(0u64), Integer::from(MAX_STEP + 1), Integer::from(-1i64), Integer::Beyond] {
            let error = Pacer::new(given).expect_err("no step");
            assert_eq!(error.kind(), crate::ErrorKind::InvalidId);
        }
        let error = Pacer::new(Integer::from(-1i64)).expect_err("no step");
        assert_eq!(std::format!("{error}"), "a step is 1 to 2147483647 numbers, not -1");
    }

    extern crate std;
}
