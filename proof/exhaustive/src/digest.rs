//! Machines as parts of a state that the checker compares.

use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hasher};

/// Returns a number for the state of a machine. The machine's `Debug` text has all its fields, so machines of equal text
/// behave alike.
pub fn digest(machine: &impl fmt::Debug) -> u64 {
    let mut sink = Sink(DefaultHasher::new());
    write!(sink, "{machine:?}").expect("the sink takes any text");
    sink.0.finish()
}

struct Sink(DefaultHasher);

impl Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
