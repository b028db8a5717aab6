//! The iterators over the IDs of a generator.

use snowmint_core::Id;
use snowmint_stores::Error;

use super::Snowflake;
use crate::generator::OfThread;

/// A handle of a generator for one thread: [`Snowflake::local`].
///
/// # Examples
/// ```
/// use snowmint::{Id, Snowflake, layouts::TWITTER};
/// let generator = Snowflake::new(&TWITTER, 29)?;
/// let ids: Vec<Id> = generator.local().take(10).collect::<Result<_, _>>()?;
/// assert!(ids.is_sorted());
/// # Ok::<(), snowmint::Error>(())
/// ```
#[derive(Debug)]
pub struct LocalSnowflake<'a> {
    pub(super) snowflake: &'a Snowflake,
    pub(super) thread: OfThread<'a>,
}

impl LocalSnowflake<'_> {
    /// Returns the next ID. Blocks at most `max_wait_ms`. On a clock of the caller it is [`Snowflake::next_id`].
    ///
    /// # Errors
    /// As [`Snowflake::next_id`].
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Snowflake, layouts::TWITTER};
    /// let generator = Snowflake::new(&TWITTER, 30)?;
    /// let mut local = generator.local();
    /// assert!(local.next_id()? < local.next_id()?);
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    #[inline]
    pub fn next_id(&mut self) -> Result<Id, Error> {
        let Self { snowflake: Snowflake { generator, clock }, thread } = self;
        let id = if clock.is_some() { None } else { generator.free_id_of(thread) };
        id.map_or_else(|| self.snowflake.next_id(), |id| Ok(id.into()))
    }
}

impl Iterator for LocalSnowflake<'_> {
    type Item = Result<Id, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.next_id())
    }
}

/// The IDs of a generator, without end.
///
/// # Examples
/// ```
/// use snowmint::{Snowflake, layouts::TWITTER};
/// let generator = Snowflake::new(&TWITTER, 31)?;
/// let mut ids = generator.iter();
/// assert!(ids.next().is_some_and(|id| id.is_ok()));
/// # Ok::<(), snowmint::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ids<'a>(pub(super) &'a Snowflake);

impl Iterator for Ids<'_> {
    type Item = Result<Id, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.0.next_id())
    }
}

impl<'a> IntoIterator for &'a Snowflake {
    type Item = Result<Id, Error>;
    type IntoIter = Ids<'a>;

    fn into_iter(self) -> Ids<'a> {
        self.iter()
    }
}
