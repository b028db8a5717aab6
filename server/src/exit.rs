//! How the program ends: 0, 1 if something failed or is unknown, 2 if the input is wrong; a line says why.

use std::fmt;
use std::io::{self, ErrorKind as IoErrorKind};
use std::process::ExitCode;

use clap::error::ErrorKind as ClapErrorKind;
use snowmint_core::ErrorKind;
use snowmint_stores::Error;

/// Why a verb did not go on.
#[derive(Debug)]
pub enum Exit {
    /// Its reader has had enough.
    Quiet,
    /// It was interrupted.
    Interrupted,
    /// What was typed is wrong.
    Wrong(String),
    /// Something failed.
    Failed(String),
}

impl Exit {
    /// Says why, and with which code to end.
    pub fn told(self) -> ExitCode {
        match self {
            Self::Quiet => ExitCode::SUCCESS,
            Self::Interrupted => ExitCode::from(130),
            Self::Wrong(sentence) => {
                complain(sentence);
                ExitCode::from(2)
            }
            Self::Failed(sentence) => {
                complain(sentence);
                ExitCode::FAILURE
            }
        }
    }
}

// For the log of what goes on all the same.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quiet => Ok(()),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Wrong(sentence) | Self::Failed(sentence) => f.write_str(sentence),
        }
    }
}

/// One line on standard error.
pub fn complain(sentence: impl fmt::Display) {
    eprintln!("snowmint: {sentence}");
}

impl From<Error> for Exit {
    fn from(error: Error) -> Self {
        use ErrorKind::{InvalidId, InvalidLayout, InvalidNode, InvalidText};
        match error.kind() {
            InvalidId | InvalidLayout | InvalidNode | InvalidText => Self::Wrong(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<snowmint_core::Error> for Exit {
    fn from(error: snowmint_core::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<io::Error> for Exit {
    fn from(error: io::Error) -> Self {
        if error.kind() == IoErrorKind::BrokenPipe { Self::Quiet } else { Self::Failed(error.to_string()) }
    }
}

/// What clap found: a mistake in one line, or help and version in full.
pub fn of_arguments(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ClapErrorKind::DisplayHelp | ClapErrorKind::DisplayVersion) {
        // A reader that leaves early is no error.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let verb = std::env::args().nth(1).filter(|verb| !verb.starts_with('-')).unwrap_or_default();
    let blank = if verb.is_empty() { "" } else { " " };
    let text = error.to_string();
    let told = text.split("\n\n").next().unwrap_or_default();
    let told = told.strip_prefix("error: ").unwrap_or(told);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = if told.starts_with("Mint and read") { "a verb is needed" } else { &told };
    complain(format_args!("{told} (see snowmint{blank}{verb} --help)"));
    ExitCode::from(2)
}
