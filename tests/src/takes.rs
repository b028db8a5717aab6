//! The ledger of takers (`snowmint-taker`), and the checks of its numbers.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use snowmint::Error;
use snowmint::stores::{NativeNumbers, Tickets};

/// A kind of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers from memory, fetched in ranges.
    Segment,
    /// Numbers of a counter, fetched one by one.
    Ticket,
    /// Numbers of `nextval`, fetched one by one.
    Sequence,
    /// Numbers of `nextval` from the cache of a session.
    Cached,
    /// Numbers of each user.
    User,
    /// Numbers of a sequence in the database.
    Native,
    /// Flickr's table.
    Flickr,
}

/// Users of every part of a section, of its neighbours, and the last one there can be.
pub const USERS: [u64; 8] = [0, 1, 50_000, 99_999, 100_000, 199_999, 12_345_678, u64::MAX];

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Segment, Self::Ticket, Self::Sequence, Self::Cached, Self::User, Self::Native, Self::Flickr];

    /// The name, as in the taker's arguments and the ledger's file names.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Segment => "segment",
            Self::Ticket => "ticket",
            Self::Sequence => "sequence",
            Self::Cached => "cached",
            Self::User => "user",
            Self::Native => "native",
            Self::Flickr => "flickr",
        }
    }

    /// Finds the kind of that name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A number that a taker got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Took {
    /// The user who got it; for other kinds the session that took it.
    pub user: u64,
    /// The number.
    pub number: i128,
    /// The time of the request: `steady_ns`.
    pub asked: u64,
    /// The time of the answer: `steady_ns`.
    pub came: u64,
}

impl Took {
    const BYTES: usize = 40;

    /// Returns the bytes of the entry in a ledger.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.user.to_le_bytes());
        bytes[8..24].copy_from_slice(&self.number.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.asked.to_le_bytes());
        bytes[32..].copy_from_slice(&self.came.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let number = i128::from_le_bytes(bytes[8..24].try_into().expect("sixteen bytes"));
        Self { user: word(0), number, asked: word(24), came: word(32) }
    }
}

/// Reads all numbers that takers of a kind wrote into a directory.
///
/// # Panics
/// If a ledger cannot be read.
#[must_use]
pub fn ledger(directory: &Path, kind: Kind) -> Vec<Took> {
    let prefix = format!("{}.", kind.name());
    let mut all = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else { return all };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)) {
            // A killed process may have written its last entry in part; `chunks_exact` drops that.
            let bytes = fs::read(path).expect("a ledger");
            all.extend(bytes.chunks_exact(Took::BYTES).map(Took::from_bytes));
        }
    }
    all
}

/// Checks that no number repeats; for numbers of users, that no number of one user repeats.
///
/// # Panics
/// If a number repeats.
pub fn assert_unique(kind: Kind, took: &[Took]) {
    let mut seen = HashSet::new();
    let repeats: Vec<_> = took
        .iter()
        .filter(|took| !seen.insert((if kind == Kind::User { took.user } else { 0 }, took.number)))
        .collect();
    assert!(repeats.is_empty(), "{} of {} {kind:?} numbers repeat: {:?}", repeats.len(), took.len(), repeats.first());
}

/// Checks that each number of a user is greater than all numbers of that user that had come before its request.
///
/// # Panics
/// If a number is not.
pub fn assert_increasing(took: &[Took]) {
    let mut users: BTreeMap<u64, Vec<Took>> = BTreeMap::new();
    for took in took {
        users.entry(took.user).or_default().push(*took);
    }
    for (user, mut asked) in users {
        let mut came = asked.clone();
        asked.sort_by_key(|took| took.asked);
        came.sort_by_key(|took| took.came);
        let (mut came, mut greatest) = (came.into_iter().peekable(), None);
        for later in asked {
            while let Some(earlier) = came.next_if(|earlier| earlier.came < later.asked) {
                greatest = greatest.max(Some(earlier.number));
            }
            assert!(greatest < Some(later.number), "user {user} got {later:?} after {greatest:?}");
        }
    }
}

/// Returns the ns since the machine started, by a clock that all processes share.
///
/// # Panics
/// Never.
#[must_use]
#[allow(unsafe_code, reason = "clock_gettime is a C interface")]
pub fn steady_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to the argument.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// Opens the sequence `takes` of a `PostgreSQL` or `MariaDB`.
///
/// # Errors
/// The errors of the store.
#[cfg(feature = "engines")]
pub async fn native(url: &str) -> Result<NativeNumbers, Error> {
    use snowmint::stores::{NumberSource, SegmentsOptions, Url};
    use snowmint::stores::{mysql::Mysql, postgres::Postgres};
    use std::sync::Arc;

    let url = Url::parse(url)?;
    let source: Arc<dyn NumberSource> = if url.scheme == "postgres" {
        Arc::new(Postgres::connect(&url).await?.sequence("takes").await?)
    } else {
        Arc::new(Mysql::connect(&url).await?.sequence("takes").await?)
    };
    NativeNumbers::open(source, 20, SegmentsOptions::default())
}

/// Opens the table `Tickets64` of a `MariaDB`, as the first of two servers.
///
/// # Errors
/// The errors of the store.
#[cfg(feature = "engines")]
pub async fn flickr(url: &str) -> Result<Tickets, Error> {
    use snowmint::core::ticket::Form;
    use snowmint::stores::mysql::Mysql;
    use snowmint::stores::{TicketServer, Url};
    use std::sync::Arc;

    let store = Mysql::connect(&Url::parse(url)?).await?;
    let server: Arc<dyn TicketServer> = Arc::new(store.tickets("Tickets64", "a", 2, 1).await?);
    Tickets::new(vec![server], Form::Ticket, &[1], 2)
}

/// Not in this build.
///
/// # Errors
/// Always.
#[cfg(not(feature = "engines"))]
#[allow(clippy::unused_async, reason = "as where there are engines")]
pub async fn native(_url: &str) -> Result<NativeNumbers, Error> {
    Err(Error::new(snowmint::ErrorKind::InvalidText, "this build has no engine"))
}

/// Not in this build.
///
/// # Errors
/// Always.
#[cfg(not(feature = "engines"))]
#[allow(clippy::unused_async, reason = "as where there are engines")]
pub async fn flickr(_url: &str) -> Result<Tickets, Error> {
    Err(Error::new(snowmint::ErrorKind::InvalidText, "this build has no engine"))
}
