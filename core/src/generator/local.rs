//! What one thread mints from without changing the state that all threads share.

/// The most IDs that a thread takes at once. As many may stay unused when their tick ends.
pub(super) const MAX_RUN_IDS: u64 = 64;

/// IDs of one tick, as positions, that a [`Minter`](crate::Minter) has given to one thread.
///
/// A thread that mints again and again in one tick takes 1, 2, 4, up to 64 IDs at once, so that few calls change the shared
/// state, and a tick that has few calls keeps its IDs for others.
#[derive(Debug)]
pub struct LocalRun {
    pub(super) next: u64,
    pub(super) end: u64,
    /// How many IDs the next run has.
    pub(super) size: u64,
}

impl LocalRun {
    /// Returns a run without IDs.
    pub const fn new() -> Self {
        Self { next: 0, end: 0, size: 1 }
    }
}

impl Default for LocalRun {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::layout::layouts::{SNOWMINT, SONYFLAKE};
    use crate::{Error, ErrorKind, Options, Snowflake, Window, Words};

    const NOW_MS: i64 = 1_772_323_200_000;

    fn ids(generator: &Snowflake, run: &mut LocalRun, now_ms: i64, count: usize) -> Result<Vec<u64>, Error> {
        (0..count).map(|_| generator.next_local(run, now_ms)).collect()
    }

    fn parts(id: u64) -> (i64, u64) {
        let parts = SNOWMINT.decode(id).expect("its own");
        (parts.timestamp_ms, parts.sequence)
    }

    #[test]
    fn two_threads_have_all_ids_of_a_tick_once() {
        let generator = Snowflake::with(&SNOWMINT, 5, Options::DEFAULT, Words::vouched());
        let (mut here, mut there) = (LocalRun::new(), LocalRun::new());
        let mut minted = Vec::new();
        for _ in 0..4096 {
            minted.extend(generator.next_local(&mut here, NOW_MS));
            minted.extend(generator.next_local(&mut there, NOW_MS));
        }
        minted.sort_unstable();
        minted.dedup();
        assert_eq!(minted.len(), 4096);
        assert_eq!(generator.next_local(&mut here, NOW_MS).expect_err("refused").kind(), ErrorKind::Exhausted);
        assert!(generator.next_local(&mut here, NOW_MS + 1).is_ok());
    }

    #[test]
    fn a_thread_that_mints_once_a_tick_takes_one_id() -> Result<(), Error> {
        let generator = Snowflake::with(&SNOWMINT, 5, Options::DEFAULT, Words::vouched());
        let mut run = LocalRun::new();
        for now_ms in NOW_MS..NOW_MS + 5 {
            assert_eq!(parts(generator.next_local(&mut run, now_ms)?), (now_ms, 0));
            assert_eq!(parts(generator.try_next_id(now_ms)?), (now_ms, 1));
        }
        Ok(())
    }

    #[test]
    fn an_id_has_the_tick_of_its_call() -> Result<(), Error> {
        let generator = Snowflake::with(&SNOWMINT, 5, Options::DEFAULT, Words::vouched());
        let mut run = LocalRun::new();
        ids(&generator, &mut run, NOW_MS, 10)?;
        assert_eq!(parts(generator.next_local(&mut run, NOW_MS + 1)?), (NOW_MS + 1, 0), "the rest of the run is lost");
        let generator = Snowflake::with(&SONYFLAKE, 5, Options::DEFAULT, Words::vouched());
        let minted = ids(&generator, &mut LocalRun::new(), NOW_MS, 256)?;
        assert!(minted.is_sorted_by(|a, b| a < b), "the sequence is above the node");
        Ok(())
    }

    #[test]
    fn ids_of_a_thread_increase_when_the_clock_goes_back_and_on() -> Result<(), Error> {
        let generator = Snowflake::with(&SNOWMINT, 5, Options::DEFAULT, Words::vouched());
        let mut run = LocalRun::new();
        ids(&generator, &mut run, NOW_MS, 10)?;
        assert_eq!(generator.next_local(&mut run, NOW_MS - 5).expect_err("refused").kind(), ErrorKind::ClockBackwards);
        // As a caller does who waits: by the generator itself, and then by the thread's run again.
        let waited = generator.try_next_id(NOW_MS)?;
        assert!(generator.next_local(&mut run, NOW_MS)? > waited);
        Ok(())
    }

    #[test]
    fn nothing_is_left_of_a_run_when_its_generator_is_closed_or_its_window_over() -> Result<(), Error> {
        let words = Words::wiped();
        words.open(&SONYFLAKE, Window { start_ms: NOW_MS, end_ms: NOW_MS + 20 });
        let generator = Snowflake::with(&SONYFLAKE, 5, Options::DEFAULT, words);
        let mut run = LocalRun::new();
        ids(&generator, &mut run, NOW_MS + 19, 10)?;
        assert_eq!(generator.next_local(&mut run, NOW_MS + 20).expect_err("refused").kind(), ErrorKind::WindowClosed);
        ids(&generator, &mut run, NOW_MS + 19, 10)?;
        generator.words().close(&SONYFLAKE);
        assert_eq!(generator.next_local(&mut run, NOW_MS + 19).expect_err("refused").kind(), ErrorKind::WindowClosed);
        Ok(())
    }
}
