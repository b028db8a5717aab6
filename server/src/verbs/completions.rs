//! `snowmint completions`: prints a completion script.

use std::io::{Write as _, stdout};

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::arguments::Arguments;
use snowmint_cli::Exit;

/// Prints the completion script of a shell.
pub fn completions(shell: Shell) -> Result<u8, Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "snowmint", &mut script);
    stdout().lock().write_all(&script)?;
    Ok(0)
}
