//! Random bits of the operating system, fetched in blocks: a block of 1 kB costs what six fetches of 16 bytes do.

use snowmint_core::ErrorKind;
use snowmint_stores::Error;

/// How many words of 32 bits a block has.
const WORDS: usize = 256;

/// What is left of a block. Each word is handed out once, and is 0 from then on.
#[derive(Debug)]
pub(crate) struct Entropy {
    words: [u32; WORDS],
    left: usize,
}

impl Default for Entropy {
    fn default() -> Self {
        Self { words: [0; WORDS], left: 0 }
    }
}

impl Entropy {
    /// Sees to it that so many words are there.
    pub(crate) fn hold(&mut self, words: usize) -> Result<(), Error> {
        if self.left >= words { Ok(()) } else { self.fetch() }
    }

    #[cold]
    fn fetch(&mut self) -> Result<(), Error> {
        let mut bytes = [0; WORDS * 4];
        getrandom::fill(&mut bytes).map_err(|error| {
            Error::told(ErrorKind::StoreUnavailable, format!("the system gives no random bytes: {error}"))
        })?;
        for (word, bytes) in self.words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_ne_bytes(*bytes);
        }
        self.left = WORDS;
        Ok(())
    }

    /// The next word, of those that [`hold`](Self::hold) has seen to.
    pub(crate) fn word(&mut self) -> u32 {
        // Without any left this is no random word but a panic: an ID must not be made of what was used before.
        self.left -= 1;
        std::mem::take(&mut self.words[self.left])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn words_are_random_and_handed_out_once() {
        let mut entropy = Entropy::default();
        let words: Vec<_> = (0..2000)
            .map(|_| {
                entropy.hold(4).expect("the system has some");
                entropy.word()
            })
            .collect();
        // By chance two of 2,000 are the same once in 2,000 runs, and three pairs never.
        assert!(words.iter().collect::<HashSet<_>>().len() > 1997);
        let ones = words.iter().map(|word| word.count_ones()).sum::<u32>();
        assert!((31_000..33_000).contains(&ones), "{ones} of 64000");
        assert!(entropy.words[entropy.left..].iter().all(|word| *word == 0), "nothing of them is left");
    }
}
