//! A sequence of a database, described for its driver.

use snowmint_core::ErrorKind;
use snowmint_core::durability::{Accepting, Engine};
use snowmint_core::native::{State, Unfit};

use crate::error::Error;

/// A sequence of a database.
#[derive(Clone, Debug)]
pub struct NativeTarget {
    source: String,
    name: String,
    engine: Engine,
    allow_unsafe: bool,
}

impl NativeTarget {
    /// Names a sequence of a store. `engine` is the store's engine, or `None` if the store cannot have sequences.
    ///
    /// # Errors
    /// `InvalidStore` for another store, and for a name that is not safe between quotes.
    pub fn new(store: &str, engine: Option<Engine>, name: &str, allow_unsafe: bool) -> Result<Self, Error> {
        let engine = Unfit::named(engine, name)
            .map_err(|unfit| Error::invalid_store(store, unfit.message(Engine::Postgres, name, &Accepting::URL)))?;
        Ok(Self { source: format!("{store}, sequence {name}"), name: name.to_owned(), engine, allow_unsafe })
    }

    /// Returns the store and the sequence, for messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Puts the name, and how many numbers to take, into a statement.
    pub fn fill(&self, statement: &str, count: u64) -> String {
        statement.replace("{sequence}", &self.name).replace("{count}", &count.to_string())
    }

    /// Refuses an object that is not a sequence, by the server's version and the object's type.
    ///
    /// # Errors
    /// `InvalidStore`.
    pub fn refuse_object(&self, version: &str, kind: Option<&str>) -> Result<(), Error> {
        self.refuse(Unfit::object(self.engine, version, kind))
    }

    fn refuse(&self, unfit: Option<Unfit<'_>>) -> Result<(), Error> {
        let Some(unfit) = unfit else { return Ok(()) };
        let message = unfit.message(self.engine, &self.name, &Accepting::URL);
        Err(Error::new(unfit.kind(), format!("{}: {message}", self.source)))
    }

    /// Returns how many numbers to ask for, at most `count`. `state` is `None` if the name belongs to another kind of
    /// object.
    ///
    /// # Errors
    /// `UnsafeStore` for a sequence whose numbers can repeat, `InvalidStore` without a state.
    pub fn room(&self, state: Option<State<'_>>, count: u64) -> Result<u64, Error> {
        self.refuse(match &state {
            None => Some(Unfit::NotSequence),
            Some(state) => state.refuse(self.engine).filter(|_| !self.allow_unsafe),
        })?;
        Ok(state.map_or(0, |state| state.room(count)))
    }

    /// Returns the error of a sequence without a number left: `Exhausted`.
    pub fn run_out(&self) -> Error {
        Error::new(ErrorKind::Exhausted, format!("{} has no more numbers", self.source))
    }
}
