//! IDs from a generator. A forked child first leases another node.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use snowmint_core::{ErrorKind, Host, LocalRun, Run, Snowflake, mutant};
use snowmint_stores::Error;
use snowmint_stores::host::background::block_on;
use snowmint_stores::host::fork::Cell;

use super::ProcessGenerator;
use super::clock::{LeasedClock, Stopped};
use super::incarnation::Incarnation;
use crate::cycles::unix_ms;
use crate::lease::acquire::{acquire, acquire_in_background};
use crate::lease::key::LeaseKey;
use crate::lease::registry::{LeaseRef, Lookup, registry};
use crate::lease::wait::Blocking;

/// The run of one thread, and the incarnation that it belongs to.
#[derive(Debug)]
pub(crate) struct OfThread<'a> {
    incarnation: Option<&'a Incarnation>,
    run: LocalRun,
}

impl OfThread<'_> {
    pub(crate) const fn new() -> Self {
        Self { incarnation: None, run: LocalRun::new() }
    }
}

impl ProcessGenerator {
    /// Returns the next ID at the time `now_ms` (Unix ms). Never waits: a forked child gets `WindowClosed` until the
    /// background has leased a node.
    ///
    /// # Errors
    /// Those of [`Snowflake::try_next_id`], and `Forked`.
    #[inline]
    pub fn try_next_id(&self, now_ms: i64) -> Result<u64, Error> {
        let current = self.open_current()?;
        current
            .core
            .try_next_id(now_ms)
            .or_else(|error| self.try_after(current, error, now_ms, |core| core.try_next_id(now_ms)))
    }

    /// Returns the next ID by the clock of the system or of the lessor, or `None`: then [`ProcessGenerator::next_id`] waits or
    /// says why, and reads the clock itself. For generators without a caller's clock.
    #[inline]
    pub fn free_id(&self) -> Option<u64> {
        let now_ms = self.lessor_ms().unwrap_or_else(unix_ms);
        self.open_current().ok()?.core.try_next_id(now_ms).ok()
    }

    /// Returns the next ID of a thread as [`ProcessGenerator::free_id`] does, from the thread's own run.
    #[inline]
    pub(crate) fn free_id_of<'a>(&'a self, thread: &mut OfThread<'a>) -> Option<u64> {
        let now_ms = self.lessor_ms().unwrap_or_else(unix_ms);
        let current = self.open_current().ok()?;
        // A forked child that has leased another node must not use its parent's run.
        if !thread.incarnation.is_some_and(|known| std::ptr::eq(known, current)) {
            *thread = OfThread { incarnation: Some(current), run: LocalRun::new() };
        }
        current.core.next_local(&mut thread.run, now_ms).ok()
    }

    /// Returns up to `want` consecutive IDs (1 or more) at the time `now_ms` (Unix ms). Never waits; see
    /// [`Snowflake::try_run`].
    ///
    /// # Errors
    /// Those of [`ProcessGenerator::try_next_id`].
    pub fn try_run(&self, now_ms: i64, want: u64, patience_ms: u64) -> Result<Run<'_>, Error> {
        let current = self.open_current()?;
        let run = current.core.try_run(now_ms, want, patience_ms);
        run.or_else(|error| self.try_after(current, error, now_ms, |core| core.try_run(now_ms, want, patience_ms)))
    }

    #[cold]
    fn try_after<'a, T>(
        &'a self,
        current: &'a Incarnation,
        error: snowmint_core::Error,
        now_ms: i64,
        again: impl FnOnce(&'a Snowflake<Cell>) -> Result<T, snowmint_core::Error>,
    ) -> Result<T, Error> {
        let Some(key) = self.key_to_claim(&error) else {
            current.heed(&error, now_ms);
            return Err(current.explain(error));
        };
        match registry().look_up(key) {
            Lookup::Granted(lease_ref) => Ok(again(&self.follow(current, lease_ref).core)?),
            Lookup::Failed(error) => Err(error),
            Lookup::Pending => Err(claiming()),
            Lookup::Unclaimed(guard) => {
                acquire_in_background(guard, key, now_ms);
                Err(claiming())
            }
        }
    }

    /// Returns the lease that a forked child claims after this error. A node that the caller named stays with the parent.
    fn key_to_claim(&self, error: &snowmint_core::Error) -> Option<&Arc<LeaseKey>> {
        self.key.as_ref().filter(|key| error.kind() == ErrorKind::Forked && key.terms.nodes.single().is_none())
    }

    /// Returns the next ID. Waits at most `max_wait_ms`.
    ///
    /// # Errors
    /// The errors of [`Snowflake::next_id`], `Forked`, and errors of the host's clock or wait. In a forked child also the
    /// errors of [`ProcessGenerator::open`].
    #[inline]
    pub fn next_id<H>(&self, host: &mut H) -> Result<u64, H::Error>
    where
        H: Host,
        H::Error: From<Error>,
    {
        let now_ms = self.now_ms(host)?;
        match self.open_current()?.core.try_next_id(now_ms) {
            Ok(id) => Ok(id),
            Err(error) => self.next_id_after(&error, now_ms, host),
        }
    }

    #[cold]
    fn next_id_after<H>(&self, error: &snowmint_core::Error, now_ms: i64, host: &mut H) -> Result<u64, H::Error>
    where
        H: Host,
        H::Error: From<Error>,
    {
        self.current().heed(error, now_ms);
        self.in_this_process(host, |core, host| core.next_id(host))
    }

    /// Refuses signed 64-bit integers for a batch, if one of its IDs could be negative there. The batch may run ahead and
    /// wait.
    ///
    /// # Errors
    /// `InvalidId`, and errors of the host's clock.
    pub fn refuse_negative<H>(&self, host: &mut H) -> Result<(), H::Error>
    where
        H: Host,
        H::Error: From<Error>,
    {
        if self.layout.signed_until_ms().is_none() || mutant::removes("negative") {
            return Ok(());
        }
        let reach_ms = self.options.max_ahead_ms.saturating_add(self.options.max_wait_ms);
        let last_ms = self.now_ms(host)?.saturating_add_unsigned(reach_ms);
        Ok(self.layout.refuse_negative(last_ms).map_err(Error::from)?)
    }

    /// Hands `count` IDs to `sink`, run by run, and waits at most `max_wait_ms` in all; see [`Snowflake::take`].
    ///
    /// # Errors
    /// Those of [`ProcessGenerator::next_id`].
    pub fn take<H>(&self, host: &mut H, count: usize, mut sink: impl FnMut(Run<'_>)) -> Result<(), H::Error>
    where
        H: Host,
        H::Error: From<Error>,
    {
        let mut begun = false;
        self.in_this_process(host, |core, host| {
            if begun {
                // A signal handler forked while the call waited: the parent goes on with the IDs taken so far.
                return Err(Stopped::Final(snowmint_core::Error::forked()));
            }
            core.take(host, count, |run| {
                begun = true;
                sink(run);
            })
        })
    }

    /// Calls the generator of this process. A forked child leases a node first.
    fn in_this_process<H, T>(
        &self,
        host: &mut H,
        mut call: impl FnMut(&Snowflake<Cell>, &mut LeasedClock<'_, H>) -> Result<T, Stopped<H::Error>>,
    ) -> Result<T, H::Error>
    where
        H: Host,
        H::Error: From<Error>,
    {
        let mut before_ms = 0;
        loop {
            let current = self.open_current()?;
            match call(&current.core, &mut LeasedClock::new(host, current.lease(), before_ms)) {
                Ok(value) => return Ok(value),
                Err(Stopped::Host(error)) => return Err(error),
                Err(Stopped::Final(error)) => return Err(Error::from(error).into()),
                Err(Stopped::Refused(error)) => {
                    let Some(key) = self.key_to_claim(&error) else { return Err(current.explain(error).into()) };
                    // The call took no ID: a wiped cell refuses from the first look on.
                    let lease_ref = block_on(acquire(key, self.options, &mut Blocking(host)))?;
                    // The time of a slow store does not count for the call.
                    before_ms = host.paused_ms();
                    self.follow(current, lease_ref);
                }
            }
        }
    }

    /// Continues with another lease after `before`. Several threads may come here at once; one incarnation is enough.
    fn follow<'a>(&'a self, before: &'a Incarnation, lease_ref: LeaseRef) -> &'a Incarnation {
        let next = Box::new(Incarnation::leased(&self.layout, self.options, lease_ref));
        let followed = before.next.set(next).is_ok();
        let current = self.current();
        if followed {
            current.serve(self.options, self.on_lost.as_ref());
            fence(Ordering::SeqCst);
            if self.closed.load(Ordering::SeqCst) {
                self.keep_release(current.leave(self.on_lost.as_ref()));
            }
        }
        current
    }
}

fn claiming() -> Error {
    Error::new(ErrorKind::WindowClosed, "this forked process is leasing a node: try again")
}
