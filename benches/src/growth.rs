//! Measures the cost of 10, 100 and 1000 leases of a namespace on each engine: to claim another node, to renew a node,
//! and to list all.
//!
//! The servers are the servers of the tests. They keep their data in memory if it has enough room, so the figures do
//! not show the speed of a disk.

#[allow(dead_code, reason = "contenders are for other programs")]
mod turns;

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use snowmint::host::unix_ms;
use snowmint::stores::host::{Claimer, Granted, Leases, Namespace, Terms};
use snowmint::stores::{CounterStore, connect};
use snowmint::{Nodes, layouts};
use snowmint_engines::{Engine, Server};
use turns::deciles;

const COUNTS: [usize; 3] = [10, 100, 1000];
const TIMES: usize = 20;
/// An hour: no lease needs a renewal while the others are claimed.
const WINDOW_MS: u64 = 3_600_000;

/// How long each of some calls took, in µs.
type Took = (String, Vec<f64>);

struct Fleet {
    leases: Leases,
    terms: Terms,
    held: Vec<(Granted, u128)>,
}

impl Fleet {
    fn of(store: Arc<dyn CounterStore>) -> Result<Self, Box<dyn Error>> {
        let terms = Terms {
            namespace: Namespace::named("growth")?,
            layout: layouts::SNOWMINT,
            nodes: Nodes::ALL,
            exclude: Vec::new(),
            max_ahead_ms: 0,
            max_wait_ms: 10_000,
            window_ms: WINDOW_MS,
            system_clock: true,
        };
        Ok(Self { leases: Leases::new(store), terms, held: Vec::new() })
    }

    async fn claim(&mut self) -> Result<(), Box<dyn Error>> {
        let claimer = Claimer { nonce: self.held.len() as u128 + 1, ..Claimer::this_process()? };
        let granted = self.leases.claim(&self.terms, &claimer, None).await?;
        self.held.push((granted, claimer.nonce));
        Ok(())
    }

    async fn renew(&self, at: usize) -> Result<(), Box<dyn Error>> {
        let (Granted { node, .. }, nonce) = self.held[at];
        self.leases.renew(&self.terms.namespace, node, nonce, unix_ms(), WINDOW_MS).await?;
        Ok(())
    }

    /// Claims up to a number of leases; the last claims count.
    async fn grow(&mut self, count: usize) -> Result<Vec<Took>, Box<dyn Error>> {
        let (mut claims, mut renewals, mut lists) = (Vec::new(), Vec::new(), Vec::new());
        while self.held.len() < count {
            let started = Instant::now();
            self.claim().await?;
            claims.push(us_since(started));
        }
        for turn in 0..TIMES {
            let started = Instant::now();
            self.renew(turn * 7 % count).await?;
            renewals.push(us_since(started));
            let started = Instant::now();
            assert_eq!(self.leases.list("growth").await?.len(), count);
            lists.push(us_since(started));
        }
        claims.drain(..claims.len().saturating_sub(TIMES));
        let named = [("claim", claims), ("renewal", renewals), ("list", lists)];
        Ok(named.map(|(call, took)| (format!("{call}, {count} leases"), took)).into())
    }
}

fn us_since(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e6
}

async fn measure(url: &str) -> Result<(), Box<dyn Error>> {
    let name = url.split(':').next().unwrap_or_default();
    let mut fleet = Fleet::of(connect(url).await?)?;
    let mut rows = Vec::new();
    for count in COUNTS {
        rows.extend(fleet.grow(count).await?);
    }
    // Claims together, then renewals, then lists.
    rows.sort_by_key(|(name, _)| ["claim", "renewal", "list"].iter().position(|call| name.starts_with(call)));
    let rows = rows.into_iter().map(|(name, mut took)| {
        let [low, median, high] = deciles(&mut took);
        format!("{{\"name\":{name:?},\"p10\":{low:.1},\"median\":{median:.1},\"p90\":{high:.1}}}")
    });
    let rows: Vec<_> = rows.collect();
    println!("{{\"title\":\"Leases over {name}, by their number\",\"unit\":\"us\",\"rows\":[{}]}}", rows.join(","));
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    measure(&format!("sqlite:{}/store.db", directory.path().display())).await?;
    for engine in Engine::STORES {
        let server = Server::start(engine);
        measure(&server.url()).await?;
    }
    Ok(())
}
