//! What the command line takes.
#![allow(clippy::doc_markdown, reason = "comments are the help")]

pub mod operate;
pub mod serve;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use snowmint_core::TextForm;

/// Mint and read IDs of the Snowflake family, and serve them.
#[derive(Debug, Parser)]
#[command(name = "snowmint", version, max_term_width = 80)]
#[command(after_help = "Exit codes: 0, or 1 if something failed or is unknown, or 2 if the input is wrong.")]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Mint IDs, one a line
    Gen(Gen),
    /// Tell what IDs say: under one layout, or under each that could have minted them
    Inspect(Inspect),
    /// Show all presets, or the layouts given
    Layouts(Layouts),
    /// Show leases, and give back what nobody does
    Lease(operate::Lease),
    /// Define and use named sequences
    Sequence(operate::Sequence),
    /// Make and use segments' tags
    Segment(operate::Segment),
    /// After a restored backup, a failover that lost writes, or records that vanished: raise every window's end and counter
    ///
    /// Stop all servers and generators of the store first. Start them again as soon as this is done: before --until no node
    /// is granted, whether the store knows it or not, and a claim waits or fails. With file:DIRECTORY this raises the slots
    /// there too.
    Fence(operate::Fence),
    /// Serve IDs and numbers over HTTP and the Redis protocol
    Serve(Box<serve::Serve>),
    /// Print what a shell needs to complete these words
    Completions {
        /// Which shell
        shell: Shell,
    },
}

#[derive(Debug, Args)]
pub struct Gen {
    /// How many
    #[arg(short = 'n', long, default_value_t = 1)]
    pub count: u64,
    /// A preset's name or a layout's text
    #[arg(long, default_value = "snowmint")]
    pub layout: String,
    /// decimal, hex, base32, base36, base58, base62 (else the bare number)
    #[arg(long, value_name = "FORM", value_parser = form)]
    pub format: Option<TextForm>,
    /// A node that nobody else uses: 5, or datacenter=0,worker=5 (SNOWMINT_NODE, or else one is leased)
    #[arg(long)]
    pub node: Option<String>,
    /// Where to lease a node (SNOWMINT_STORE, or else of this machine)
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// Whose leases share no node (SNOWMINT_NAMESPACE, or else the layout's)
    #[arg(long)]
    pub namespace: Option<String>,
    /// How long a batch may wait for the clock
    #[arg(long, value_name = "MS")]
    pub max_wait_ms: Option<u64>,
    /// A JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Inspect {
    /// An ID; without any, the lines of standard input
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    pub ids: Vec<String>,
    /// A preset's name or a layout's text: only this one
    #[arg(long)]
    pub layout: Option<String>,
    /// That of the IDs: decimal, hex, base32, base36, base58, base62
    #[arg(long, value_name = "FORM", value_parser = form)]
    pub format: Option<TextForm>,
    /// A JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Layouts {
    /// A preset's name or a layout's text
    #[arg(value_name = "LAYOUT")]
    pub layouts: Vec<String>,
    /// A JSON object a line
    #[arg(long)]
    pub json: bool,
}

fn form(name: &str) -> Result<TextForm, String> {
    TextForm::find(name).map_err(|error| error.to_string())
}
