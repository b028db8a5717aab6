//! Measures the cost of a lease, a wiped page and the fork guard for each call: the bare core beside the generator of
//! users.

mod turns;

use snowmint::core::{Options, Snowflake as Bare, SystemHost, Words};
use snowmint::{Id, Layout, LeaseOptions, Snowflake};
use turns::{Contender, compare};

/// Room for 2^20 IDs a ms, so that the clock never makes a contender wait.
const ROOMY: &str = "time:41,node:3,sequence:20;epoch=2025-01-01T00:00:00Z";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let layout = Layout::parse(ROOMY)?;
    let directory = tempfile::tempdir()?;
    let lease = LeaseOptions::new().layout(layout).store(format!("file:{}", directory.path().display()));
    let bare = Bare::with(&layout, 1, Options::DEFAULT, Words::vouched());
    let (vouched, leased) = (Snowflake::new(&layout, 2)?, Snowflake::lease(lease)?);
    let mut counter = 0;

    compare(
        "Rust: core, whose clock is read at each call, and generators, which read it once a ms",
        &mut [
            Contender::new("snowmint's core, no lease, no fork guard", || bare.next_id(&mut SystemHost::new())),
            Contender::new("snowmint, vouched", || vouched.next_id().map(u64::from)),
            Contender::new("snowmint, leased", || leased.next_id().map(u64::from)),
            Contender::new("floor: reading the clock", || {
                counter += 1;
                Ok::<_, snowmint::Error>((SystemHost::unix_ms().unsigned_abs() << 20) + counter)
            }),
        ],
    );
    let mut ids = [0; 1000];
    let mut more = [Id::new(0); 1000];
    let mut most = more;
    compare(
        "Rust: runs of 1000 IDs, an ID",
        &mut [
            Contender::batch("snowmint's core, no lease, no fork guard", || {
                bare.fill(&mut SystemHost::new(), &mut ids).map(|()| ids[999])
            }),
            Contender::batch("snowmint, vouched", || vouched.fill(&mut more).map(|()| more[999].get())),
            Contender::batch("snowmint, leased", || leased.fill(&mut most).map(|()| most[999].get())),
        ],
    );
    Ok(())
}
