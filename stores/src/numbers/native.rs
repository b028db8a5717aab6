//! A sequence of a database as the source of numbers, many of them a round trip.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::lock;
use super::segments::{Segments, SegmentsOptions, Source};
use crate::error::Error;
use crate::store::NumberSource;

/// Numbers of a native sequence, fetched ahead and handed out from memory. Clones share them.
///
/// They need not follow each other: other sessions use the sequence too, and its increment is its own. The adaptive step,
/// the fetching ahead and the waiting are those of [`Segments`], which here counts numbers instead of naming them.
#[derive(Clone, Debug)]
pub struct NativeNumbers {
    counted: Segments,
    chunks: Arc<Mutex<Chunks>>,
}

#[derive(Debug, Default)]
struct Chunks {
    /// How many were fetched or given up: the place of the next chunk.
    places: u64,
    /// Each with the place of its first number, and how many of its places are still to come.
    chunks: VecDeque<Chunk>,
}

#[derive(Debug)]
struct Chunk {
    first: u64,
    left: u64,
    numbers: Vec<i64>,
}

impl Chunks {
    /// The next chunk, which stands for `amount` places even if it has fewer numbers.
    fn push(&mut self, amount: u64, numbers: Vec<i64>) -> u64 {
        self.chunks.push_back(Chunk { first: self.places, left: amount, numbers });
        self.places += amount;
        self.places
    }

    /// The number at a place, which is asked for once.
    fn take(&mut self, place: u64) -> Option<i64> {
        // There are three at most: the one at hand, the one fetched ahead, and one that a stalled caller is late for.
        let chunk = self.chunks.iter_mut().rfind(|chunk| chunk.first <= place)?;
        let number = usize::try_from(place - chunk.first).ok().and_then(|index| chunk.numbers.get(index).copied());
        chunk.left -= 1;
        self.chunks.retain(|chunk| chunk.left > 0);
        number
    }
}

impl NativeNumbers {
    /// The numbers of a source; `step` is how many the first fetches take. To be called within a tokio runtime.
    ///
    /// # Errors
    /// `InvalidId`, if the step is not 1 to 2^31-1.
    pub fn open(source: Arc<dyn NumberSource>, step: u64, options: SegmentsOptions) -> Result<Self, Error> {
        let chunks = Arc::<Mutex<Chunks>>::default();
        let most = source.most();
        let counted = Segments::over(Box::new(Native { source, chunks: Arc::clone(&chunks) }), step, options)?;
        // Places without a number come only where the source ends.
        counted.limit(most);
        Ok(Self { counted, chunks })
    }

    /// One number from memory.
    ///
    /// # Errors
    /// As [`Segments::try_next`].
    pub fn try_next(&self) -> Result<i64, Error> {
        loop {
            let place = self.counted.try_next()?;
            if let Some(number) = lock(&self.chunks).take(place) {
                return Ok(number);
            }
        }
    }

    /// The next number.
    ///
    /// # Errors
    /// As [`Segments::next`].
    pub async fn next(&self) -> Result<i64, Error> {
        loop {
            let place = self.counted.next().await?;
            if let Some(number) = lock(&self.chunks).take(place) {
                return Ok(number);
            }
        }
    }

    /// How many times numbers were fetched.
    pub fn fetches(&self) -> u64 {
        self.counted.fetches()
    }
}

#[derive(Debug)]
struct Native {
    source: Arc<dyn NumberSource>,
    chunks: Arc<Mutex<Chunks>>,
}

#[async_trait]
impl Source for Native {
    async fn fetch(&self, amount: u64) -> Result<u64, Error> {
        let numbers = self.source.take(amount).await?;
        Ok(lock(&self.chunks).push(amount, numbers))
    }

    async fn step(&self) -> Result<Option<u64>, Error> {
        Ok(None)
    }

    /// A sequence of a database takes nothing back.
    async fn lower(&self, _end: u64, _start: u64) -> Result<bool, Error> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stand_for_numbers_also_where_fewer_came_than_were_asked_for() {
        let mut chunks = Chunks::default();
        assert_eq!(chunks.push(3, vec![10, 20, 30]), 3);
        assert_eq!(chunks.push(4, vec![40, 70]), 7);
        let taken: Vec<_> = [0, 1, 3, 2, 4, 5, 6].into_iter().map(|place| chunks.take(place)).collect();
        assert_eq!(taken, [Some(10), Some(20), Some(40), Some(30), Some(70), None, None]);
        assert!(chunks.chunks.is_empty());
        assert_eq!(chunks.take(7), None);
    }
}
