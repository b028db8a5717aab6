//! `snowmint-taker`: a process that tests start and kill. It takes numbers of every kind from a store, over and over,
//! and writes each number to a ledger as soon as it comes, with the times of the request and of the answer.

#[path = "../minter/forks.rs"]
mod forks;

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use std::{env, fs};

use snowmint::stores::{
    CounterStore, NativeNumbers, Sections, SectionsOptions, Segments, SegmentsOptions, Sequences, Tag, Tickets, connect,
};
use snowmint::{Error as SnowmintError, ErrorKind, Integer};
use snowmint_tests::takes::{self, Kind, Took, USERS};
use tokio::task::JoinSet;

const USAGE: &str = "usage: snowmint-taker KIND,... URL LEDGER_DIRECTORY [PACE_MS [LIFE_MS]], or fork URL, or clone URL
kinds: segment, ticket, sequence, cached, user, native, flickr";

/// The set of users, which is also the service's.
const USERS_OF_SERVICE: &str = "users";

/// The window of sections: short, so that a successor soon gets the section.
const WINDOW_MS: u64 = 1000;
/// How long a call before a fork may take on a busy machine.
const TIMEOUT_MS: u64 = 30_000;

/// A source of one kind of numbers.
enum Taker {
    Segment(Segments),
    Ticket(Box<Tickets>),
    Sequence(Box<Sequences>, &'static str),
    User(Sections),
    Native(NativeNumbers),
}

impl Taker {
    async fn open(kind: Kind, url: &str, store: Arc<dyn CounterStore>) -> Result<Self, SnowmintError> {
        Ok(match kind {
            Kind::Segment => Self::Segment(Segments::open(store, "takes", SegmentsOptions::default()).await?),
            Kind::Ticket => Self::Ticket(Box::new(Tickets::over(vec![store], "takes")?)),
            Kind::Sequence => Self::Sequence(Box::new(Sequences::new(store)), "takes"),
            Kind::Cached => Self::Sequence(Box::new(Sequences::new(store)), "cached"),
            Kind::User => {
                // Does not wait long for users whom another process serves.
                let (window_ms, max_wait_ms) = (WINDOW_MS, WINDOW_MS / 5);
                let options = SectionsOptions::default()
                    .window(Duration::from_millis(window_ms))
                    .max_wait(Duration::from_millis(max_wait_ms))
                    .step(50);
                Self::User(Sections::new(store, USERS_OF_SERVICE, options)?)
            }
            Kind::Native => Self::Native(takes::native(url).await?),
            Kind::Flickr => Self::Ticket(Box::new(takes::flickr(url).await?)),
        })
    }

    async fn next(&self, user: u64) -> Result<i128, SnowmintError> {
        match self {
            Self::Segment(segments) => segments.next().await.map(i128::from),
            Self::Ticket(tickets) => tickets.next().await.map(i128::from),
            Self::Sequence(sequences, name) => sequences.next(name).await,
            Self::User(sections) => sections.next(Integer::from(user)).await.map(i128::from),
            Self::Native(numbers) => numbers.next().await.map(i128::from),
        }
    }

    /// Gives unused numbers and sections back.
    async fn close(self) -> Result<(), SnowmintError> {
        match self {
            Self::Segment(segments) => segments.close().await.map(drop),
            Self::User(sections) => sections.close().await,
            Self::Ticket(_) | Self::Sequence(..) | Self::Native(_) => Ok(()),
        }
    }
}

/// How a taker takes.
#[derive(Clone, Copy)]
struct Manner {
    /// The rest between two numbers.
    pace: Duration,
    /// A source of numbers lives this long and up to four times as long, then the taker opens another one.
    life: Duration,
}

/// Takes numbers until it is killed.
async fn take(kind: Kind, url: String, store: Arc<dyn CounterStore>, ledger: String, Manner { pace, life }: Manner) {
    let path = format!("{ledger}/{}.{}", kind.name(), std::process::id());
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("the ledger can be written");
    for session in 0_u32.. {
        let taker = loop {
            match Taker::open(kind, &url, Arc::clone(&store)).await {
                Ok(taker) => break taker,
                Err(error) => pause_after(kind, &error).await,
            }
        };
        let began = Instant::now();
        for count in 0_usize.. {
            if began.elapsed() / (1 + session % 4) >= life {
                break;
            }
            // Users of every part of a section, and of several sections.
            let user = if kind == Kind::User { USERS[count % USERS.len()] } else { session.into() };
            let asked = takes::steady_ns();
            match taker.next(user).await {
                Ok(number) => {
                    let took = Took { user, number, asked, came: takes::steady_ns() };
                    file.write_all(&took.to_bytes()).expect("the ledger can be written");
                }
                Err(error) => pause_after(kind, &error).await,
            }
            tokio::time::sleep(pace).await;
        }
        if let Err(error) = taker.close().await {
            pause_after(kind, &error).await;
        }
    }
}

/// Waits after an error of a store that is away or of users whom another process serves. Panics for other errors.
async fn pause_after(kind: Kind, error: &SnowmintError) {
    let passing = matches!(error.kind(), ErrorKind::StoreUnavailable | ErrorKind::Exhausted | ErrorKind::WindowClosed);
    assert!(passing, "{}: {error:?}", kind.name());
    tokio::time::sleep(Duration::from_millis(20)).await;
}

/// Reads from a store that a child has inherited; the memory store, which has no connection, counts as refused.
async fn inherited(store: &dyn CounterStore) -> Result<(), SnowmintError> {
    if store.name() == "memory" {
        return Err(SnowmintError::new(ErrorKind::Forked, "the memory store has no connection"));
    }
    store.read("forks/none").await.map(|_| ())
}

/// Takes numbers, forks, and prints the numbers and refusals that parent and children get after the fork.
async fn fork(verb: &str, url: &str) -> Result<(), Box<dyn Error>> {
    let store = connect(url).await?;
    Segments::create(&*store, "forks", &Tag::new(1, 10_000)).await?;
    let segments =
        Segments::open(store.clone(), "forks", SegmentsOptions::default().max_wait(Duration::from_millis(TIMEOUT_MS)))
            .await?;
    let mut local = segments.local();
    println!("{} {}", segments.next().await?, local.next().await?);
    let sequences = Sequences::new(store.clone()).with_max_wait(Duration::from_millis(TIMEOUT_MS));
    let tickets = Tickets::over(vec![store.clone()], "forks")?.with_max_wait(Duration::from_millis(TIMEOUT_MS));
    let options = SectionsOptions::default().max_wait(Duration::from_millis(TIMEOUT_MS));
    let sections = Sections::new(store.clone(), &format!("forks-{}", std::process::id()), options)?;
    println!("{} {}", sequences.next("forks").await?, sections.next(Integer::from(1u64)).await?);
    for _ in 0..4 {
        let mut child = || {
            for tried in [segments.try_next(), local.try_next(), segments.try_next_run(5).map(|run| run.start)] {
                println!("child {}", tried.map_or_else(|error| error.code().to_owned(), |number| number.to_string()));
            }
            // Asynchronous calls are refused at their first poll.
            let mut context = Context::from_waker(Waker::noop());
            let polls = [
                pin!(async { sequences.next("forks").await.map(|_| ()) }).poll(&mut context),
                pin!(async { tickets.next().await.map(|_| ()) }).poll(&mut context),
                pin!(async { sections.next(Integer::from(1u64)).await.map(|_| ()) }).poll(&mut context),
                pin!(async { segments.close().await.map(|_| ()) }).poll(&mut context),
                pin!(async { inherited(&*store).await }).poll(&mut context),
            ];
            for poll in polls {
                let Poll::Ready(Err(error)) = poll else { panic!("{poll:?}") };
                println!("child {}", error.code());
            }
            Ok(())
        };
        let child = if verb == "fork" { forks::fork(&mut child)? } else { forks::raw_clone(&mut child)? };
        assert_eq!(forks::wait(child)?, 0, "a child ended well");
    }
    println!("{} {}", segments.next().await?, local.next().await?);
    Ok(())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    if let [verb, url] = &arguments[..]
        && (verb == "fork" || verb == "clone")
    {
        return fork(verb, url).await;
    }
    let [kinds, url, ledger, rest @ ..] = &arguments[..] else { return Err(USAGE.into()) };
    let manner = Manner {
        pace: Duration::from_millis(rest.first().map_or(Ok(0), |pace| pace.parse())?),
        life: rest.get(1).map_or(Ok(Duration::MAX), |life| life.parse().map(Duration::from_millis))?,
    };
    fs::create_dir_all(ledger)?;
    let store = loop {
        match connect(url).await {
            Ok(store) => break store,
            Err(error) => pause_after(Kind::Segment, &error).await,
        }
    };
    let mut takers = JoinSet::new();
    for kind in kinds.split(',') {
        let kind = Kind::find(kind).ok_or(USAGE)?;
        takers.spawn(take(kind, url.clone(), Arc::clone(&store), ledger.clone(), manner));
    }
    // Takers end only by a panic.
    while let Some(ended) = takers.join_next().await {
        ended?;
    }
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
