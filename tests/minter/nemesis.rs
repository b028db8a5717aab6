//! A worker of the nemesis (tests/nemesis): it leases and mints until a signal ends it, and writes windows and IDs to a
//! ledger. `tests/nemesis/ledger.py` describes the format.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use snowmint::{Error, ErrorKind, Snowflake, Window};
use snowmint_tests::takes::steady_ns;

/// The rest between two calls is shorter than this, in µs.
const MAX_PAUSE_US: u64 = 20_000;
/// A generator lives this long and up to four times as long, in ms.
const LIFE_MS: u64 = 1200;
/// The longest run of one call.
const MAX_RUN_IDS: u64 = 400;

/// An error that no fault explains, or of the ledger; it leaves its thread.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;
/// The deadline of calls whose time is not checked.
const UNCHECKED: u64 = u64::MAX;

/// The ledger of one thread.
struct Ledger {
    file: File,
    window: Option<(u32, Window)>,
}

impl Ledger {
    fn open(path: &str) -> io::Result<Self> {
        Ok(Self { file: OpenOptions::new().create(true).append(true).open(path)?, window: None })
    }

    /// Appends a record in one write.
    fn append(&mut self, kind: u32, count: u32, times: [u64; 2], last: u64, body: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(32 + body.len());
        bytes.extend(kind.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        for word in [times[0], times[1], last] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(body);
        self.file.write_all(&bytes)
    }

    /// Begins the records of a generator. Threads of one generator give the same number.
    fn opened(&mut self, number: u64, times: [u64; 2]) -> io::Result<()> {
        self.window = None;
        self.append(1, std::process::id(), times, number, &[])
    }

    /// Writes node and window down, if they are new.
    fn granted(&mut self, generator: &Snowflake) -> io::Result<()> {
        let Some(window) = generator.window() else { return Ok(()) };
        let now = (generator.node(), window);
        if self.window != Some(now) {
            self.window = Some(now);
            self.append(2, now.0, [window.start_ms.cast_unsigned(), window.end_ms.cast_unsigned()], steady_ns(), &[])?;
        }
        Ok(())
    }
}

/// Numbers for lives and rests, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Mints on threads until the process ends. Each thread has its own ledger: `path`, then a dot and its number.
///
/// # Errors
/// An error that no fault explains; errors of the ledger.
pub(crate) fn run(
    mut lease: impl FnMut() -> Result<Snowflake, Error>,
    path: &str,
    seed: u64,
    threads: usize,
    max_wait_ms: u64,
) -> Result<(), Failure> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut ledgers =
        (0..threads).map(|thread| Ledger::open(&format!("{path}.{thread}"))).collect::<Result<Vec<_>, _>>()?;
    for number in 0.. {
        let began = steady_ns();
        let generator = match lease() {
            Ok(generator) => generator,
            Err(error) => {
                refuse_unexplained(&error)?;
                thread::sleep(Duration::from_millis(50));
                continue;
            }
        };
        let times = [began, steady_ns()];
        let end = Instant::now() + Duration::from_millis(LIFE_MS + random.below(3 * LIFE_MS));
        let minted: Vec<_> = thread::scope(|scope| {
            let minting: Vec<_> = ledgers
                .iter_mut()
                .map(|ledger| {
                    let (generator, random) = (&generator, Random(random.below(u64::MAX) | 1));
                    scope.spawn(move || {
                        ledger.opened(number, times)?;
                        mint(generator, ledger, random, end, max_wait_ms)
                    })
                })
                .collect();
            minting.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        for done in minted {
            done?;
        }
        generator.close();
    }
    Ok(())
}

/// Mints until the end of the generator's life, or until its lease is lost.
fn mint(
    generator: &Snowflake,
    ledger: &mut Ledger,
    mut random: Random,
    end: Instant,
    max_wait_ms: u64,
) -> Result<(), Failure> {
    while Instant::now() < end {
        ledger.granted(generator)?;
        let began = steady_ns();
        let (minted, deadline_ms) = match random.below(4) {
            // Many calls in a row, so that they overlap with the calls of other threads.
            3 => ((0..=random.below(4 * MAX_RUN_IDS)).map(|_| generator.next_id()).collect(), UNCHECKED),
            0 => (generator.next_id().map(|id| vec![id]), max_wait_ms),
            1 => (generator.try_next_id().map(|id| vec![id]), 0),
            _ => (generator.next_ids(1 + random.below(MAX_RUN_IDS)), max_wait_ms),
        };
        let times = [began, steady_ns()];
        match minted {
            Ok(ids) => {
                // The renewer may have extended the window during the call.
                ledger.granted(generator)?;
                let body: Vec<_> = ids.iter().flat_map(|id| id.get().to_le_bytes()).collect();
                ledger.append(3, u32::try_from(ids.len())?, times, deadline_ms, &body)?;
            }
            Err(error) => {
                let code = error.code().as_bytes();
                ledger.append(4, u32::try_from(code.len())?, times, deadline_ms, code)?;
                refuse_unexplained(&error)?;
                if generator.status().lost.is_some() {
                    break;
                }
            }
        }
        thread::sleep(Duration::from_micros(random.below(MAX_PAUSE_US)));
    }
    Ok(())
}

/// Returns the error if no fault of the nemesis explains it.
fn refuse_unexplained(error: &Error) -> Result<(), String> {
    match error.kind() {
        ErrorKind::Exhausted
        | ErrorKind::ClockBackwards
        | ErrorKind::WindowClosed
        | ErrorKind::NodesExhausted
        | ErrorKind::StoreUnavailable => Ok(()),
        _ => Err(format!("unexplained: {error:?}")),
    }
}
