//! Plays scenes in which other crates repeat or change IDs: `snowmint-failures overflow|fork`, in an optimised build.

use std::process;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ferroid::generator::AtomicSnowflakeGenerator;
use ferroid::id::SnowflakeTwitterId;
use ferroid::time::{MonotonicClock, TWITTER_EPOCH, TimeSource};

/// How long a child may take for IDs that take less than 10 ms elsewhere.
const PAUSE: Duration = Duration::from_secs(5);

/// A clock that stands at one time.
struct At(u64);

impl TimeSource<u64> for At {
    fn current_millis(&self) -> u64 {
        self.0
    }
}

fn main() {
    for scene in std::env::args().skip(1) {
        match scene.as_str() {
            "overflow" => overflow(),
            "fork" => fork(),
            _ => panic!("there is no scene {scene}"),
        }
    }
}

fn report(name: &str, scene: &str, result: &str) {
    println!("{name:28} {scene:32} {result}");
}

/// Mints beyond the bits of a field.
fn overflow() {
    let full = AtomicSnowflakeGenerator::<SnowflakeTwitterId, _>::new(1, At(1 << 41));
    let ids: Vec<_> = (0..3).map(|_| full.next_id(|_| {}).to_raw()).collect();
    report("ferroid 2.0.0", "a full time field", &format!("IDs {ids:?}"));

    let masked = AtomicSnowflakeGenerator::<SnowflakeTwitterId, _>::new(1029, At(1000));
    report("ferroid 2.0.0", "machine 1029", &format!("the ID has machine {}", masked.next_id(|_| {}).machine_id()));

    let tomorrow = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(86_400);
    let future = AtomicSnowflakeGenerator::<SnowflakeTwitterId, _>::new(1, MonotonicClock::<1>::with_epoch(tomorrow));
    report("ferroid 2.0.0", "an epoch in a day", &format!("the ID has time {}", future.next_id(|_| {}).timestamp()));

    let mut one = snowflake::SnowflakeIdGenerator::new(1, 1);
    let mut other = snowflake::SnowflakeIdGenerator::new(0, 33);
    let of = |id: i64| (id >> 17 & 31, id >> 12 & 31);
    let nodes = (of(one.generate()), of(other.generate()));
    report(
        "rs-snowflake 0.6.0",
        "machine 0, node 33",
        &format!("{:?}, as of machine 1, node 1: {:?}", nodes.1, nodes.0),
    );
}

/// Forks after the first ID; the child mints 20,000.
fn fork() {
    let clock = MonotonicClock::<1>::with_epoch(TWITTER_EPOCH);
    let generator = AtomicSnowflakeGenerator::<SnowflakeTwitterId, _>::new(1, clock);
    generator.next_id(|_| thread::yield_now());
    // SAFETY: the child mints and ends; the only other thread holds no lock.
    let child = unsafe { libc::fork() };
    if child == 0 {
        for _ in 0..20_000 {
            generator.next_id(|_| thread::yield_now());
        }
        process::exit(0);
    }
    thread::sleep(PAUSE);
    // SAFETY: the process is our child, and `status` may be null.
    let ended = unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG) } == child;
    if !ended {
        // SAFETY: as above; the child is still there.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
    }
    let result = if ended { "the child ended" } else { "the child still waits after 5 s" };
    report("ferroid 2.0.0", "a child mints 20,000 IDs", result);
}
