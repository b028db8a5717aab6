//! `snowmint completions`: a script for a shell.

use std::io::{Write as _, stdout};
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::exit::Exit;

/// Prints the script that completes our words.
pub fn completions(shell: Shell) -> Result<ExitCode, Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "snowmint", &mut script);
    stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
