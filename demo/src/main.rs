//! The Rust program of the demonstration: `snowmint-demo decode`, or `snowmint-demo mint snowmint LEDGER`.
//!
//! `mint` leases a node and appends 20 IDs each millisecond to a file in the directory LEDGER, until its input ends.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;
use std::{env, process, thread};

use serde_json::{Value, json};
use snowmint::core::time::Rfc3339;
use snowmint::{Id, Layout, LeaseOptions, Snowflake};

const PUBLIC_IDS: &str = include_str!("../public_ids.json");

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["decode"] => decode(),
        ["mint", "snowmint", ledger] => mint(Path::new(ledger)),
        _ => Err("usage: snowmint-demo decode, or snowmint-demo mint snowmint LEDGER".into()),
    }
}

fn mint(ledger: &Path) -> Result<(), Box<dyn Error>> {
    // A busy machine may renew a window late.
    let generator = Snowflake::lease(LeaseOptions::new().max_wait(Duration::from_secs(20)))?;
    let mut file = OpenOptions::new().append(true).create(true).open(ledger.join(process::id().to_string()))?;
    let mut batch = || -> Result<(), Box<dyn Error>> {
        let lines: Vec<_> = generator.next_ids(20)?.iter().map(|id| format!("{id}\n")).collect();
        Ok(file.write_all(lines.concat().as_bytes())?)
    };
    batch()?;
    println!("ready");
    let input = thread::spawn(|| io::copy(&mut io::stdin(), &mut io::sink()));
    while !input.is_finished() {
        batch()?;
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn decode() -> Result<(), Box<dyn Error>> {
    let public: Vec<Value> = serde_json::from_str(PUBLIC_IDS)?;
    let decoded = public.iter().map(decoded).collect::<Result<Vec<_>, _>>()?;
    println!("{}", json!(decoded));
    Ok(())
}

fn decoded(public: &Value) -> Result<String, Box<dyn Error>> {
    let text = |key: &str| public[key].as_str().ok_or("a public ID has a layout and an id");
    let parts = Layout::preset(text("layout")?)?.decode(text("id")?.parse::<Id>()?)?;
    Ok(format!("{} {} {}", Rfc3339(parts.timestamp_ms), parts.node, parts.sequence))
}
