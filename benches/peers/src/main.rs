//! An ID of snowmint beside an ID of other crates, and beside what no crate can do without. Each contender is checked first.

mod checker;
#[allow(dead_code, reason = "other programs measure batches too")]
#[path = "../../src/turns.rs"]
mod turns;

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use checker::{Time, verdict};
use ferroid::generator::AtomicSnowflakeGenerator;
use ferroid::id::SnowflakeTwitterId;
use ferroid::time::{MonotonicClock, TimeSource};
use snowmint::core::{Host, Options, Snowflake as Bare, Words};
use snowmint::{Layout, LeaseOptions, Snowflake};
use turns::{Contender, Shared, compare, compare_two_threads, sustained};

/// Room for 2^20 IDs a ms, so that the clock never makes a contender wait that can have such a layout.
const ROOMY: &str = "time:41,node:3,sequence:20;epoch=2025-01-01T00:00:00Z";
const EPOCH_MS: u64 = 1_735_689_600_000;

ferroid::define_snowflake_id!(Roomy, u64, reserved: 0, timestamp: 41, machine_id: 3, sequence: 20);

fn main() -> Result<(), Box<dyn Error>> {
    by_the_clock()?;
    sustained_by_default()?;
    on_two_threads()?;
    on_an_injected_clock()?;
    wide();
    Ok(())
}

/// Prints what the checker found, as a line of JSON.
fn print_verdict(name: &str, verdict: &str) {
    println!("{{\"checked\":{name:?},\"verdict\":{verdict:?}}}");
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    u64::try_from(since.as_millis()).expect("a clock before the year 584 million")
}

/// The processor's counter of cycles, which snowmint reads for most IDs instead of the clock.
#[cfg(target_arch = "x86_64")]
fn cycles() -> Result<u64, Infallible> {
    // SAFETY: every processor of this architecture has the instruction, which reads no memory.
    ok(unsafe { std::arch::x86_64::_rdtsc() })
}

fn ok<T>(value: T) -> Result<T, Infallible> {
    Ok(value)
}

/// A number for a signed ID, which is never negative here.
fn unsigned(id: i64) -> u64 {
    u64::try_from(id).expect("a positive ID")
}

/// One generator that threads could share, by the clock of the system.
fn by_the_clock() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let layout = Layout::parse(ROOMY)?;
    let ours =
        Snowflake::lease(LeaseOptions::new().layout(layout).store(format!("file:{}", directory.path().display())))?;
    let vouched = Snowflake::new(&layout, 2)?;
    let clock = MonotonicClock::<1>::with_epoch(Duration::from_millis(EPOCH_MS));
    let atomic = AtomicSnowflakeGenerator::<Roomy, _>::new(1, clock);
    let snowid = snowid::SnowID::new(1)?;
    let snowflake_me = snowflake_me::Snowflake::builder()
        .start_time(i64::try_from(EPOCH_MS)?)
        .bit_len_time(41)
        .bit_len_sequence(20)
        .bit_len_data_center_id(1)
        .bit_len_machine_id(1)
        .machine_id(&|| Ok(1))
        .data_center_id(&|| Ok(1))
        .finalize()?;
    let nexus = RefCell::new(nexus_id::Snowflake64::<41, 3, 20>::new(1));
    let rs_snowflake = RefCell::new(snowflake::SnowflakeIdGenerator::new(1, 1));
    let cell = AtomicU64::new(0);
    let floor = || {
        let tick = (unix_ms() - EPOCH_MS) << 23;
        let mut last = cell.load(Ordering::Relaxed);
        loop {
            let id = if tick > last { tick } else { last + 1 };
            match cell.compare_exchange_weak(last, id, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return id,
                Err(seen) => last = seen,
            }
        }
    };
    let nexus_id = || nexus.borrow_mut().next_id(unix_ms() - EPOCH_MS).map(|id| id.raw());
    let roomy = Time { shift: 23, epoch_ms: EPOCH_MS };
    let twitter = |epoch_ms| Time { shift: 22, epoch_ms };

    for (name, mint, time) in [
        (
            "snowmint, leased: next_id",
            &mut (|| u128::from(ours.next_id().unwrap().get())) as &mut dyn FnMut() -> u128,
            roomy,
        ),
        ("ferroid: atomic, ticker thread", &mut || atomic.next_id(|_| std::thread::yield_now()).to_raw().into(), roomy),
        (
            "snowflake_me: next_id",
            &mut || snowflake_me.next_id().map(u64::from).unwrap().into(),
            Time { shift: 22, ..roomy },
        ),
        ("nexus-id, clock read for it", &mut || nexus_id().unwrap().into(), roomy),
        ("snowid: generate", &mut || snowid.generate().into(), twitter(snowid_epoch())),
        ("rs-snowflake: generate", &mut || unsigned(rs_snowflake.borrow_mut().generate()).into(), twitter(0)),
        ("rs-snowflake: lazy_generate", &mut || unsigned(rs_snowflake.borrow_mut().lazy_generate()).into(), twitter(0)),
    ] {
        print_verdict(name, &verdict(mint, Some(time)));
    }

    let mut last = 0;
    compare(
        "Rust: an ID, by the clock of the system",
        &mut [
            Contender::new("floor: clock and compare-and-swap", || ok(floor())),
            Contender::new("floor: clock", || {
                last += 1;
                ok((u128::from(unix_ms()) << 64) + last)
            }),
            #[cfg(target_arch = "x86_64")]
            Contender::new("floor: counter of cycles", cycles),
            Contender::new("snowmint, leased: next_id", || ours.next_id().map(u64::from)),
            Contender::new("snowmint, vouched: next_id", || vouched.next_id().map(u64::from)),
            Contender::new("ferroid: atomic, ticker thread", || {
                ok(atomic.next_id(|_| std::thread::yield_now()).to_raw())
            }),
            Contender::new("snowflake_me: next_id", || snowflake_me.next_id().map(u64::from)),
            Contender::new("nexus-id, clock read for it", nexus_id),
            Contender::new("snowid: generate", || ok(snowid.generate())),
        ],
    );
    Ok(())
}

/// The default layout, as many IDs as it has, beside crates with the same layout.
fn sustained_by_default() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let ours = Snowflake::lease(LeaseOptions::new().store(format!("file:{}", directory.path().display())))?;
    let mut local = ours.local();
    let clock = MonotonicClock::<1>::with_epoch(Duration::from_millis(EPOCH_MS));
    let atomic = AtomicSnowflakeGenerator::<SnowflakeTwitterId, _>::new(1, clock);
    let snowid = snowid::SnowID::new(3)?;
    let rs_snowflake = RefCell::new(snowflake::SnowflakeIdGenerator::new(1, 1));
    sustained(
        "Rust: an ID, sustained, default layout",
        &mut [
            ("snowmint, leased: next_id", &mut || ours.next_id().expect("an ID").get()),
            ("snowmint, a handle for each thread: next_id", &mut || local.next_id().expect("an ID").get()),
            ("ferroid: atomic, ticker thread", &mut || atomic.next_id(|_| std::thread::yield_now()).to_raw()),
            ("rs-snowflake: generate", &mut || unsigned(rs_snowflake.borrow_mut().generate())),
            ("snowid: generate", &mut || snowid.generate()),
        ],
    );
    Ok(())
}

/// One generator that two threads share.
fn on_two_threads() -> Result<(), Box<dyn Error>> {
    let layout = Layout::parse(ROOMY)?;
    let ours = Snowflake::new(&layout, 3)?;
    let clock = MonotonicClock::<1>::with_epoch(Duration::from_millis(EPOCH_MS));
    let atomic = AtomicSnowflakeGenerator::<Roomy, _>::new(1, clock);
    let snowid = snowid::SnowID::new(2)?;
    let cell = AtomicU64::new(0);
    let swap = || {
        let mut last = cell.load(Ordering::Relaxed);
        loop {
            match cell.compare_exchange_weak(last, last + 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return ok(last + 1),
                Err(seen) => last = seen,
            }
        }
    };
    compare_two_threads(
        "Rust: an ID, two threads at once",
        &[
            Shared::new("floor: compare-and-swap", || swap),
            #[cfg(target_arch = "x86_64")]
            Shared::new("floor: counter of cycles", || cycles),
            Shared::new("snowmint: next_id", || || ours.next_id().map(u64::from)),
            Shared::new("snowmint, a handle for each thread: next_id", || {
                let mut local = ours.local();
                move || local.next_id().map(u64::from)
            }),
            Shared::new("ferroid: atomic, ticker thread", || {
                || ok(atomic.next_id(|_| std::thread::yield_now()).to_raw())
            }),
            Shared::new("snowid: generate", || || ok(snowid.generate())),
        ],
    );
    Ok(())
}

/// The epoch of snowid's default configuration, Unix ms.
fn snowid_epoch() -> u64 {
    snowid::SnowIDConfig::builder().build().epoch()
}

/// A clock in a cell, so that only the work of the generator is measured.
struct Injected<'a>(&'a Cell<u64>);

impl Host for Injected<'_> {
    type Error = snowmint::core::Error;

    fn now_ms(&mut self) -> Result<i64, Self::Error> {
        Ok(self.0.get().cast_signed())
    }

    fn pause(&mut self, _ms: u64) -> Result<(), Self::Error> {
        Ok(())
    }

    fn paused_ms(&mut self) -> u64 {
        0
    }
}

impl TimeSource<u64> for Injected<'_> {
    fn current_millis(&self) -> u64 {
        self.0.get() - EPOCH_MS
    }
}

/// The step alone: the time is an argument, and goes on by a ms after each 1000 IDs.
fn on_an_injected_clock() -> Result<(), Box<dyn Error>> {
    let now = Cell::new(unix_ms());
    let minted = Cell::new(0_u32);
    let advance = || {
        minted.set(minted.get() + 1);
        if minted.get() == 1000 {
            minted.set(0);
            now.set(now.get() + 1);
        }
    };
    let ours = Bare::with(&Layout::parse(ROOMY)?, 1, Options::DEFAULT, Words::vouched());
    let atomic = AtomicSnowflakeGenerator::<Roomy, _>::new(1, Injected(&now));
    let mut nexus = nexus_id::Snowflake64::<41, 3, 20>::new(1);
    let cell = AtomicU64::new(0);
    compare(
        "Rust: an ID, on an injected clock",
        &mut [
            Contender::new("floor: compare-and-swap", || {
                advance();
                let last = cell.load(Ordering::Relaxed);
                cell.compare_exchange(last, last + 1, Ordering::Relaxed, Ordering::Relaxed).map(|last| last + 1)
            }),
            Contender::new("snowmint's core: next_id", || {
                advance();
                ours.next_id(&mut Injected(&now))
            }),
            Contender::new("ferroid: atomic", || {
                advance();
                ok(atomic.next_id(|_| ()).to_raw())
            }),
            Contender::new("nexus-id, for one thread", || {
                advance();
                nexus.next_id(now.get() - EPOCH_MS).map(|id| id.raw())
            }),
        ],
    );
    Ok(())
}

/// UUIDs of version 7 and ULIDs.
fn wide() {
    let mut ulids = ulid::Generator::new();
    for (name, mint) in [
        ("snowmint: uuid::v7", &mut (|| snowmint::uuid::v7().unwrap().to_bits()) as &mut dyn FnMut() -> u128),
        ("uuid: Uuid::now_v7", &mut || uuid::Uuid::now_v7().as_u128()),
        ("uuid7: uuid7", &mut || u128::from(uuid7::uuid7())),
        ("snowmint: ulid::next", &mut || snowmint::ulid::next().unwrap().to_bits()),
        ("ulid: Generator::generate", &mut || ulids.generate().unwrap().0),
    ] {
        print_verdict(name, &verdict(mint, None));
    }
    compare(
        "Rust: a UUID of version 7",
        &mut [
            Contender::new("snowmint: uuid::v7", || snowmint::uuid::v7().map(|id| id.to_bits())),
            Contender::new("uuid: Uuid::now_v7", || ok(uuid::Uuid::now_v7().as_u128())),
            Contender::new("uuid7: uuid7", || ok(u128::from(uuid7::uuid7()))),
        ],
    );
    compare(
        "Rust: a ULID",
        &mut [
            Contender::new("snowmint: ulid::next", || snowmint::ulid::next().map(|id| id.to_bits())),
            Contender::new("ulid: Generator::generate", || ok(ulids.generate().unwrap().0)),
        ],
    );
}
