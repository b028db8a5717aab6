//! The end of the program: code 0 for success, 1 for a failure or an unknown ID, 2 for wrong input, and one line that
//! says why.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, ErrorKind as IoErrorKind, Write as _};

use clap::error::{ContextKind, ErrorKind as ClapErrorKind};
use snowmint_core::ErrorKind;
use snowmint_core::shown::Shown;
use snowmint_stores::Error;

/// Why a verb ended early.
#[derive(Debug)]
pub enum Exit {
    /// The reader of the output closed it.
    Quiet,
    /// The user interrupted the verb.
    Interrupted,
    /// The input is wrong: the message names the value.
    Wrong(String),
    /// Something failed: the message says why.
    Failed(String),
}

impl Exit {
    /// Prints the reason, and returns the exit code.
    pub fn report(self) -> u8 {
        match self {
            Self::Quiet => 0,
            Self::Interrupted => 130,
            Self::Wrong(message) => {
                complain(message);
                2
            }
            Self::Failed(message) => {
                complain(message);
                1
            }
        }
    }
}

// For a log line, where the program continues.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quiet => Ok(()),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Wrong(message) | Self::Failed(message) => f.write_str(message),
        }
    }
}

/// Writes one line to standard error. Texts of others in the message cannot command the terminal.
pub fn complain(message: impl fmt::Display) {
    // A closed or full standard error takes nothing, and `eprintln!` would panic.
    let _ = writeln!(io::stderr(), "snowmint: {}", Shown(message));
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

/// Prints the answer of clap and returns the exit code: a mistake and similar names in one line, or help and version in
/// full. `verb` is the word after the name of the program.
pub fn of_arguments(error: &clap::Error, verb: Option<&OsString>) -> u8 {
    if matches!(error.kind(), ClapErrorKind::DisplayHelp | ClapErrorKind::DisplayVersion) {
        // A reader that closes the output early is not an error.
        let _ = error.print();
        return 0;
    }
    // An unknown verb has no help.
    let unknown = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string);
    let verb = verb.map(|verb| verb.to_string_lossy());
    let verb = verb.filter(|verb| !verb.starts_with('-') && Some(&**verb) != unknown.as_deref()).unwrap_or_default();
    let blank = if verb.is_empty() { "" } else { " " };
    let text = error.to_string();
    let mistake = text.split("\n\n").next().unwrap_or_default();
    let mistake = mistake.strip_prefix("error: ").unwrap_or(mistake);
    let mistake = mistake.split_whitespace().collect::<Vec<_>>().join(" ");
    // Without a verb, clap gives the help.
    let mistake = if error.kind() == ClapErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        "a verb is needed"
    } else {
        &mistake
    };
    let similar = text.lines().find_map(|line| line.trim().strip_prefix("tip: ").filter(|tip| tip.contains(" exist")));
    let separator = if similar.is_some() { "; " } else { "" };
    let similar = similar.unwrap_or_default();
    complain(format_args!("{mistake}{separator}{similar} (see snowmint{blank}{verb} --help)"));
    2
}
