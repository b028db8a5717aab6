//! `snowmint-minter`: a process that tests start, fork, stop and kill. It mints into a ledger, a file of IDs of eight
//! bytes each, and appends each ID right after minting it.

mod alarm;
mod forks;
#[cfg(feature = "local")]
mod nemesis;

use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant, UNIX_EPOCH};
use std::{env, io, thread};

use snowmint::{Error, ErrorKind, Id, LeaseOptions, Options, Snowflake};
use snowmint_core::{Integer, Layout};

const USAGE: &str = "\
usage: snowmint-minter mint|fork|clone|hold|alarm|nemesis [OPTION=VALUE]...
  store=URL  node=N (leased with a store, else vouched for)  layout=NAME|TEXT  namespace=NAME  window_ms=N  max_ahead_ms=N  max_wait_ms=N
  ledger=FILE     where IDs go
  count=N         IDs a process or thread (default: until killed)
  pace_us=N       rest between IDs
  threads=N       minting threads
  children=N      forked or cloned processes
  before=N        IDs before a fork (default: 1)
  local=true      IDs come from a handle for one thread
  idle=true       children and parent sleep instead
  batch=true      IDs are written down together at the end
  exit=true       ends without closing anything
  at=UNIX_MS      begins at that time
  leases=N        holds N leases, all but the first in the namespaces n1, n2, ...
  alarm_us=N      when a signal handler forks
  seed=N          of the random numbers of `nemesis`
mint: prints `node N` first, then mints. fork, clone: mints, then in each child and in the parent.
hold: prints `node N`, then closes when standard input ends.
alarm: leases while a signal handler forks, then mints in the child and in the parent.
nemesis: leases and mints until it is killed, with a ledger as tests/nemesis/ledger.py describes it.";

/// How long the minter asks a store that does not answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long idle processes sleep, unless they are killed.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// The arguments, as `name=value`.
struct Asked(Vec<(String, String)>);

impl Asked {
    fn text(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone())
    }

    fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.text(name).map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
    }

    fn generator(&self) -> Result<Snowflake, Error> {
        self.generator_in(self.text("namespace"))
    }

    fn generator_in(&self, namespace: Option<String>) -> Result<Snowflake, Error> {
        let layout = self.text("layout").map_or(Ok(snowmint::layouts::SNOWMINT), Layout::find)?;
        let mut options = Options::DEFAULT;
        options.max_ahead_ms = self.number("max_ahead_ms").unwrap_or(options.max_ahead_ms);
        options.max_wait_ms = self.number("max_wait_ms").unwrap_or(options.max_wait_ms);
        let (node, store) = (self.number::<u32>("node"), self.text("store"));
        if let (Some(node), None) = (node, &store) {
            return Snowflake::with(&layout, Integer::from(node), options, None);
        }
        let lease = LeaseOptions::new()
            .layout(layout)
            .on_lost(|error| println!("lost {error}"))
            .options(options)
            .given(node, LeaseOptions::node)
            .given(store, LeaseOptions::store)
            .given(namespace, LeaseOptions::namespace)
            .given(self.number("window_ms").map(Duration::from_millis), LeaseOptions::window);
        Snowflake::lease(lease)
    }

    fn ledger(&self) -> io::Result<File> {
        // Each ID is appended in one write, so that processes can share the file.
        OpenOptions::new().create(true).append(true).open(self.text("ledger").unwrap_or_else(|| "/dev/null".into()))
    }

    /// Mints `count` IDs into the ledger. Prints a refusal and then ends.
    fn mint(&self, generator: &Snowflake) -> io::Result<()> {
        self.mint_by(generator, &mut || generator.next_id())
    }

    /// Mints as `mint` does, by a call that mints an ID.
    fn mint_by(&self, generator: &Snowflake, next_id: &mut dyn FnMut() -> Result<Id, Error>) -> io::Result<()> {
        let mut ledger = self.ledger()?;
        let pace = self.number("pace_us").map(Duration::from_micros);
        let count = self.number("count").unwrap_or(u64::MAX);
        if self.text("batch").is_some() {
            let ids: Vec<_> = (0..count).map_while(|_| next(generator)).collect();
            assert!(ids.is_sorted_by(|a, b| a < b), "IDs of one thread increase");
            return ledger.write_all(&ids.iter().flat_map(|id| id.get().to_le_bytes()).collect::<Vec<_>>());
        }
        for _ in 0..count {
            match next_id() {
                Ok(id) => ledger.write_all(&id.get().to_le_bytes())?,
                Err(error) => {
                    println!("{} {error}", error.code());
                    // `on_lost` is called on another thread.
                    thread::sleep(Duration::from_millis(100));
                    return Ok(());
                }
            }
            pace.inspect(|pace| thread::sleep(*pace));
        }
        Ok(())
    }
}

/// Mints the next ID. Asks a slow store again for a while, as a caller would; `None` for any other refusal.
fn next(generator: &Snowflake) -> Option<Id> {
    let since = Instant::now();
    loop {
        match generator.next_id() {
            Ok(id) => return Some(id),
            Err(error) if error.kind() == ErrorKind::StoreUnavailable && since.elapsed() < TIMEOUT => {
                thread::sleep(Duration::from_millis(50));
            }
            Err(_) => return None,
        }
    }
}

fn run(verb: &str, asked: &Asked) -> Result<(), Box<dyn std::error::Error>> {
    // Spins, so that several processes begin at the same moment.
    while asked.number("at").is_some_and(|at: u128| UNIX_EPOCH.elapsed().is_ok_and(|now| now.as_millis() < at)) {}
    let started = Instant::now();
    #[cfg(feature = "local")]
    if verb == "nemesis" {
        let (ledger, seed) = (asked.text("ledger").unwrap_or_default(), asked.number("seed").unwrap_or(1));
        let max_wait_ms = asked.number("max_wait_ms").unwrap_or(Options::DEFAULT.max_wait_ms);
        let threads = asked.number("threads").unwrap_or(1);
        nemesis::run(|| asked.generator(), &ledger, seed, threads, max_wait_ms)
            .map_err(|failure| failure.to_string())?;
    }
    asked.number("alarm_us").map_or(Ok(()), alarm::fork_after)?;
    let generator = loop {
        match asked.generator() {
            // A child that reads a file which was open at the fork also moves the parent's place in the file.
            Err(error) if verb == "alarm" && error.kind() == ErrorKind::StoreUnavailable => {
                assert!(started.elapsed() < TIMEOUT, "{error}");
            }
            generator => break generator?,
        }
    };
    println!("node {} after {} us", generator.node(), started.elapsed().as_micros());
    let others =
        (1..asked.number("leases").unwrap_or(1)).map(|lease: u32| asked.generator_in(Some(format!("n{lease}"))));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    for other in &others {
        println!("node {} too", other.node());
    }
    for path in generator.status().skipped {
        println!("skipped {path}");
    }
    match verb {
        "mint" => thread::scope(|scope| {
            for _ in 0..asked.number("threads").unwrap_or(1) {
                scope.spawn(|| asked.mint(&generator).expect("the ledger can be written"));
            }
        }),
        "alarm" => {
            let child = alarm::forked();
            asked.mint(&generator)?;
            match child {
                0 => alarm::leave(0),
                child if forks::wait(child)? == alarm::NO_THREADS => println!("the child could start no thread"),
                _ => {}
            }
        }
        "hold" => {
            io::stdin().read_to_end(&mut Vec::new())?;
        }
        "fork" | "clone" => {
            // The first IDs of a tick, so that the thread has taken more of them than it mints before the fork.
            let handle = RefCell::new(generator.local());
            let mut next_id = || {
                if asked.text("local").is_some() { handle.borrow_mut().next_id() } else { generator.next_id() }
            };
            for _ in 0..asked.number("before").unwrap_or(1) {
                asked.ledger()?.write_all(&next_id()?.get().to_le_bytes())?;
            }
            // The pipe ends when every process has closed its writer. So no child ends and releases its node before all
            // children have a node.
            let (mut all_minted, minting) = io::pipe()?;
            let minting = Cell::new(Some(minting));
            let children: Vec<_> = (0..asked.number("children").unwrap_or(4))
                .map(|_| {
                    if asked.text("idle").is_some() {
                        let child = || {
                            thread::sleep(IDLE_TIME);
                            Ok(())
                        };
                        let child = if verb == "fork" { forks::fork(child) } else { forks::raw_clone(child) };
                        return child.inspect(|child| println!("child {child}"));
                    }
                    let child = || {
                        asked.mint_by(&generator, &mut next_id)?;
                        println!("child node {}", generator.node());
                        drop(minting.take());
                        all_minted.read_to_end(&mut Vec::new()).map(drop)
                    };
                    if verb == "fork" { forks::fork(child) } else { forks::raw_clone(child) }
                })
                .collect();
            if asked.text("idle").is_some() {
                thread::sleep(IDLE_TIME);
                return Ok(());
            }
            drop(minting.take());
            asked.mint_by(&generator, &mut next_id)?;
            for child in children {
                assert_eq!(forks::wait(child?)?, 0, "a child ended well");
            }
        }
        _ => return Err(USAGE.into()),
    }
    if asked.text("exit").is_some() {
        std::process::exit(0);
    }
    generator.close();
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let verb = arguments.next().unwrap_or_default();
    let pairs = arguments.filter_map(|pair| pair.split_once('=').map(|(name, value)| (name.into(), value.into())));
    match run(&verb, &Asked(pairs.collect())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
