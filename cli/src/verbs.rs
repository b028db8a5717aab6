//! The verbs, with one file per verb.

mod audit;
mod doctor;
mod generate;
pub(crate) mod input;
mod inspect;
mod layouts;
mod mask;
mod output;
pub(crate) mod progress;
pub(crate) mod sequence;

use crate::arguments::Verb;
use crate::exit::Exit;
use crate::program::Host;

impl Verb {
    /// Runs the verb, and returns the exit code.
    ///
    /// # Errors
    /// Why the verb ended early.
    pub fn run(&self, host: &Host) -> Result<u8, Exit> {
        match self {
            Self::Gen(options) => generate::generate(options, host),
            Self::Inspect(options) => inspect::inspect(options),
            Self::Layouts(options) => layouts::layouts(options),
            Self::Doctor(options) => doctor::doctor(options, host),
            Self::Audit(options) => audit::audit(options),
            Self::Mask(options) => mask::mask(options),
        }
    }
}
