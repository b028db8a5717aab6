//! Mints five IDs of the node in the first argument, and decodes the public IDs: JSON, the same from every language.

use std::error::Error;

use serde_json::{Value, json};
use snowmint_core::{Integer, Layout, Snowflake, SystemHost, layouts::TWITTER, time::Rfc3339};

const PUBLIC_IDS: &str = include_str!("../public_ids.json");

fn main() -> Result<(), Box<dyn Error>> {
    let node: u32 = std::env::args().nth(1).ok_or("usage: snowmint-demo NODE")?.parse()?;
    let generator = Snowflake::new(&TWITTER, Integer::from(node))?;
    let mut minted = Vec::new();
    for _ in 0..5 {
        minted.push(generator.next_id(&mut SystemHost::new())?.to_string());
    }
    let public: Vec<Value> = serde_json::from_str(PUBLIC_IDS)?;
    let decoded = public.iter().map(decoded).collect::<Result<Vec<_>, _>>()?;
    println!("{}", json!({ "language": "Rust", "minted": minted, "decoded": decoded }));
    Ok(())
}

fn decoded(public: &Value) -> Result<String, Box<dyn Error>> {
    let text = |key: &str| public[key].as_str().ok_or("a public ID has a layout and an id");
    let parts = Layout::preset(text("layout")?)?.decode(text("id")?.parse()?)?;
    let timestamp = Rfc3339(parts.timestamp_ms);
    Ok(format!("{timestamp} node {} sequence {}", parts.node, parts.sequence))
}
