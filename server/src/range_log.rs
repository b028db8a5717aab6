//! The log of ranges: an audit trail of the numbers that this server took from the store.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::Serialize;
use snowmint_core::time::Rfc3339;
use snowmint_core::{ErrorKind, SystemHost};
use snowmint_stores::host::lock;
use snowmint_stores::{Error, Ranges, TakenRange};

use snowmint_cli::Exit;

/// A file with a line for each range.
#[derive(Debug)]
pub struct RangeLog {
    path: PathBuf,
    /// The label of this server.
    who: String,
    open: Mutex<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    /// Whether the last line may be incomplete.
    torn: bool,
}

/// A line. Numbers are strings, as in the answers of the service.
#[derive(Serialize)]
struct Line<'a> {
    time: String,
    kind: &'static str,
    name: &'a str,
    first: String,
    last: String,
    step: String,
    who: &'a str,
}

impl RangeLog {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// `Failed`, if it cannot be written.
    pub fn open(path: &Path, who: &str) -> Result<Self, Exit> {
        let file = append(path).map_err(|error| Exit::Failed(format!("--range-log {}: {error}", path.display())))?;
        let open = Mutex::new(Open { file, torn: false });
        Ok(Self { path: path.to_owned(), who: who.to_owned(), open })
    }

    /// Opens the file again, which may have been renamed. If that fails, the old one stays.
    pub fn open_again(&self) -> io::Result<()> {
        let file = append(&self.path)?;
        *lock(&self.open) = Open { file, torn: false };
        Ok(())
    }

    /// Returns the error for clients, if the last line could not be written.
    pub fn refusal(&self) -> Option<Error> {
        lock(&self.open).torn.then(refused)
    }

    fn write(&self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        let mut open = lock(&self.open);
        if open.torn {
            line.insert(0, b'\n');
        }
        let done = open.file.write_all(&line);
        open.torn = done.is_err();
        done
    }
}

/// The error for clients, which learn no path.
fn refused() -> Error {
    let why = "the range log cannot be written, so no number is given out; the log of the service has the reason";
    Error::new(ErrorKind::StoreUnavailable, why)
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

impl Ranges for RangeLog {
    fn note(&self, taken: &TakenRange) -> Result<(), Error> {
        let line = Line {
            time: Rfc3339(SystemHost::unix_ms()).to_string(),
            kind: taken.kind,
            name: &taken.name,
            first: taken.first.to_string(),
            last: taken.last.to_string(),
            step: taken.step.to_string(),
            who: &self.who,
        };
        let written = serde_json::to_vec(&line).map_err(io::Error::from).and_then(|line| self.write(line));
        written.map_err(|error| {
            tracing::error!(path = %self.path.display(), %error, "the range log cannot be written: a range is not given out");
            refused()
        })
    }
}
