//! Standard output.

use std::io::{self, IsTerminal as _, StdoutLock, Write, stdout};

use serde::Serialize;

use crate::json;

/// Returns whether headlines are bold: on a terminal that shows them.
pub(super) fn is_bold() -> bool {
    let unset = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
    stdout().is_terminal() && unset("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Prints a text.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = Output::new();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints an object of JSON on one line.
pub(super) fn print_json(value: &impl Serialize) -> io::Result<()> {
    print(&json::line(value)?)
}

/// Standard output. Where its pipe does not block, because another program that has it asked for that, a write waits until
/// there is room.
pub(super) struct Output(StdoutLock<'static>);

impl Output {
    pub(super) fn new() -> Self {
        Self(stdout().lock())
    }

    fn patiently<T>(&mut self, mut write: impl FnMut(&mut StdoutLock<'static>) -> io::Result<T>) -> io::Result<T> {
        loop {
            match write(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait(&self.0)?,
                done => return done,
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(|out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.patiently(Write::flush)
    }
}

/// Waits until a write would not block.
#[cfg(unix)]
fn wait(out: &StdoutLock<'static>) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};

    match poll(&mut [PollFd::new(out, PollFlags::OUT)], None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn wait(_: &StdoutLock<'static>) -> io::Result<()> {
    Err(io::ErrorKind::WouldBlock.into())
}
