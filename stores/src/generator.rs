//! The generator that keeps its promises over forks, restarts and steps of the clock: core's, on a cell of this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread;

use once_cell::race::OnceBox;
use snowmint_core::{ErrorKind, Host, Layout, Options, Run, Snowflake, SystemHost, Window};

use crate::attended::claim_attended;
use crate::claim::{Refused, claim_node};
use crate::error::Error;
use crate::fork::Cell;
use crate::heeding::{Caught, Heeding};
use crate::lease::Lease;
use crate::plan::{Config, Environment, Plan, Terms};
use crate::process::{self, Share, Wish, process};

/// A generator of IDs, of a vouched node or on a lease, that knows of forks.
///
/// | | in the process that made it | in a forked child |
/// | --- | --- | --- |
/// | vouched node | shares one state with the others of its layout, node and clock | `Forked` |
/// | lease | shares one lease with the others of its store, namespace, layout and clock | leases a node of its own when first used |
///
/// The methods are those of [`snowmint_core::Snowflake`].
#[derive(Debug)]
pub struct Generator {
    first: Era,
    layout: Layout,
    options: Options,
    /// How to lease again; nothing for a vouched node.
    terms: Option<Arc<Terms>>,
    /// Whether it goes by the clock of its lessor.
    lent: bool,
    closed: AtomicBool,
}

/// The generator of one process: another one follows after a fork.
#[derive(Debug)]
struct Era {
    core: Snowflake<Cell>,
    share: Option<Share>,
    next: OnceBox<Self>,
}

impl Era {
    fn new(layout: &Layout, node: u32, options: Options, cell: Cell, share: Option<Share>) -> Self {
        // Entropy is made for each process, and where there is none IDs are still unique.
        let seed = if options.seed == 0 { getrandom::u64().unwrap_or_default() } else { options.seed };
        Self { core: Snowflake::with(layout, node, Options { seed, ..options }, cell), share, next: OnceBox::new() }
    }

    fn leased(layout: &Layout, options: Options, share: Share) -> Self {
        let lease = &share.0;
        Self::new(layout, lease.node(), options, lease.cell(), Some(share))
    }

    /// Tells the lease what its new user needs.
    fn settle(&self, options: Options, terms: &Terms) {
        if let Some(lease) = self.lease() {
            lease.serve(options.max_ahead_ms, terms.on_lost.as_ref());
        }
    }

    /// Gives the lease up, once.
    fn leave(&self, terms: &Terms) {
        if let Some(share) = &self.share {
            share.leave();
            // In a child the parent's lease is not to be touched: its locks may be held.
            if let Some(on_lost) = terms.on_lost.as_ref().filter(|_| !self.core.words().is_wiped()) {
                share.0.forget(on_lost);
            }
        }
    }

    fn lease(&self) -> Option<&Lease> {
        self.share.as_ref().map(|share| &*share.0)
    }

    /// Says why a lease was lost, or not renewed, where core knows only that its cell is closed or its window over.
    fn explain(&self, error: snowmint_core::Error) -> Error {
        let Some(lease) = self.lease().filter(|_| error.kind() == ErrorKind::WindowClosed) else { return error.into() };
        if let Some(lost) = lease.lost() {
            return lost.clone();
        }
        lease.trouble().map_or_else(|| error.into(), |trouble| Error::explained(error, &trouble))
    }

    /// Has the window renewed if that is what stopped a call.
    fn heed(&self, error: &snowmint_core::Error, now_ms: i64) {
        // Closed for good has no waiting time.
        if error.kind() == ErrorKind::WindowClosed
            && error.wait_ms().is_some()
            && let Some(lease) = self.lease()
        {
            lease.ask(now_ms);
        }
    }
}

/// What a generator is doing.
#[derive(Clone, Debug)]
pub struct Status {
    /// The node in its IDs.
    pub node: u32,
    /// The window that is granted; nothing for a vouched node.
    pub window: Option<Window>,
    /// The namespace of its lease.
    pub namespace: Option<String>,
    /// Whether it was closed.
    pub closed: bool,
    /// Why its lease was lost, if it was.
    pub lost: Option<Error>,
    /// Slot files, or records, passed over because they are not valid.
    pub skipped: Vec<String>,
    /// How many renewals of the lease have failed since the last one that did not.
    pub renewal_failures: u64,
    /// Why the last renewal failed, if none has succeeded since.
    pub renewal_error: Option<Error>,
    /// What a failover of the store could lose, such as to a standby that is not waited for, as the last renewal found it.
    /// The lease goes on.
    pub standby_risk: Option<Error>,
    /// By how many ms this machine's clock is ahead of the store's, if the store has one.
    pub skew_ms: Option<i64>,
}

impl Generator {
    /// A generator as `config` and `environment` say, in this order:
    /// 1. the node of the configuration, for which the caller vouches;
    /// 2. a lease from its store or in its namespace;
    /// 3. `SNOWMINT_NODE`, as 1;
    /// 4. a lease from `SNOWMINT_STORE`, or else a slot of this machine, in `SNOWMINT_NAMESPACE` or that of the layout.
    ///
    /// # Errors
    /// `InvalidNode`, `InvalidLayout`, `TimeOverflow`, `BeforeEpoch`; for a lease also `NodesExhausted`,
    /// `StoreUnavailable`, `UnsafeStore`; and what the host's clock or wait reports.
    pub fn open<H>(layout: &Layout, config: Config, environment: &Environment, host: &mut H) -> Result<Self, H::Error>
    where
        H: Host,
        H::Error: From<Error>,
    {
        let (options, clock) = (config.options, config.clock);
        let plan = config.plan(layout, environment)?;
        let lent = plan.has_clock();
        if clock == 0 && !lent {
            // A caller's clock may be a script, which a reading here would advance.
            layout.refuse_if_over(SystemHost::unix_ms())?;
        }
        let (first, terms) = match plan {
            Plan::Vouched(node) => {
                let cell = process().vouched(clock, layout, node)?;
                (Era::new(layout, node, options, cell, None), None)
            }
            Plan::Leased(terms) => {
                let terms = Arc::new(terms);
                let share = acquire(layout, options, &terms, host)?;
                let era = Era::leased(layout, options, share);
                era.settle(options, &terms);
                (era, Some(terms))
            }
        };
        Ok(Self { first, layout: *layout, options, terms, lent, closed: AtomicBool::new(false) })
    }

    /// The time it goes by, Unix ms: that of its lessor, or else the host's.
    ///
    /// # Errors
    /// The host's.
    #[inline]
    pub fn now_ms<H: Host>(&self, host: &mut H) -> Result<i64, H::Error> {
        self.lessor_ms().map_or_else(|| host.now_ms(), Ok)
    }

    /// The time by the clock of its lessor (Unix ms), if it leases from one.
    #[inline]
    pub fn lessor_ms(&self) -> Option<i64> {
        if self.lent { self.era().lease().and_then(Lease::lessor_ms) } else { None }
    }

    /// That of this process.
    #[inline]
    fn era(&self) -> &Era {
        let mut era = &self.first;
        while let Some(next) = era.next.get() {
            era = next;
        }
        era
    }

    #[inline]
    fn open_era(&self) -> Result<&Era, Error> {
        if self.closed.load(Ordering::Relaxed) { Err(snowmint_core::Error::closed().into()) } else { Ok(self.era()) }
    }

    /// The layout of the IDs.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The options.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// The node in the IDs. In a forked child that is the parent's until the child has leased one.
    pub fn node(&self) -> u32 {
        self.era().core.node()
    }

    /// The window that is granted; nothing for a vouched node.
    pub fn window(&self) -> Option<Window> {
        self.era().lease().map(Lease::window)
    }

    /// What the generator is doing.
    pub fn status(&self) -> Status {
        let era = self.era();
        let lease = era.lease();
        Status {
            node: era.core.node(),
            window: lease.map(Lease::window),
            namespace: self.terms.as_ref().map(|terms| terms.key.namespace.to_string()),
            closed: self.closed.load(Ordering::Relaxed),
            lost: lease.and_then(Lease::lost).cloned(),
            skipped: lease.map_or(&[][..], Lease::skipped).to_vec(),
            renewal_failures: lease.map_or(0, Lease::failures),
            renewal_error: lease.and_then(Lease::trouble),
            standby_risk: lease.and_then(Lease::standby_risk),
            skew_ms: lease.and_then(Lease::skew_ms),
        }
    }

    /// Ends this generator: later calls are refused with `WindowClosed`. The last one of a lease gives the rest of its
    /// window back. Others of the same node go on. In a forked child the parent's lease stays as it is.
    pub fn close(&self) {
        // Sequentially consistent with `follow`: one of the two sees the other.
        self.closed.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if let Some(terms) = &self.terms {
            self.era().leave(terms);
        }
    }

    /// The next ID at the time `now_ms` (Unix ms). Never waits: in a forked child it is refused with `WindowClosed` until
    /// a node is leased, in the background.
    ///
    /// # Errors
    /// Those of [`Snowflake::try_next_id`], and `Forked`.
    #[inline]
    pub fn try_next_id(&self, now_ms: i64) -> Result<u64, Error> {
        let era = self.open_era()?;
        era.core
            .try_next_id(now_ms)
            .or_else(|error| self.try_after(era, error, now_ms, |core| core.try_next_id(now_ms)))
    }

    /// The next ID at the time `now_ms` (Unix ms), if nothing stands in its way; [`Generator::next_id`] tells what does.
    #[inline]
    pub fn free_id(&self, now_ms: i64) -> Option<u64> {
        self.open_era().ok()?.core.try_next_id(now_ms).ok()
    }

    /// Up to `want` consecutive IDs (1 or more) at the time `now_ms` (Unix ms). Never waits, as [`Snowflake::try_run`].
    ///
    /// # Errors
    /// Those of [`Generator::try_next_id`].
    pub fn try_run(&self, now_ms: i64, want: u64, patience_ms: u64) -> Result<Run<'_>, Error> {
        let era = self.open_era()?;
        let run = era.core.try_run(now_ms, want, patience_ms);
        run.or_else(|error| self.try_after(era, error, now_ms, |core| core.try_run(now_ms, want, patience_ms)))
    }

    #[cold]
    fn try_after<'a, T>(
        &'a self,
        era: &'a Era,
        error: snowmint_core::Error,
        now_ms: i64,
        again: impl FnOnce(&'a Snowflake<Cell>) -> Result<T, snowmint_core::Error>,
    ) -> Result<T, Error> {
        let Some(terms) = self.terms.as_ref().filter(|_| error.kind() == ErrorKind::Forked) else {
            era.heed(&error, now_ms);
            return Err(era.explain(error));
        };
        match process().wish(&terms.key) {
            Wish::Granted(share) => Ok(again(&self.follow(era, terms, share).core)?),
            Wish::Failed(error) => Err(error),
            Wish::Pending => Err(claiming()),
            Wish::Yours(claim) => {
                let (layout, options, terms) = (self.layout, self.options, Arc::clone(terms));
                let claimer = thread::Builder::new().name("snowmint-claim".to_owned()).spawn(move || {
                    let mut claim = claim;
                    while let Some(outcome) = claim_node(&claim, &layout, options, &terms, now_ms) {
                        match claim.keep(outcome.map_err(Refused::into_error)) {
                            Ok(()) => break,
                            Err(again) => claim = again,
                        }
                    }
                });
                drop(claimer);
                Err(claiming())
            }
        }
    }

    /// The next ID. Waits at most `max_wait_ms`.
    ///
    /// # Errors
    /// Those of [`Snowflake::next_id`], `Forked`, in a forked child those of [`Generator::open`], and what the host's
    /// clock or wait reports.
    #[inline]
    pub fn next_id<H>(&self, host: &mut H) -> Result<u64, H::Error>
    where
        H: Host,
        H::Error: From<Error>,
    {
        let now_ms = self.now_ms(host)?;
        match self.open_era()?.core.try_next_id(now_ms) {
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
        self.era().heed(error, now_ms);
        self.in_this_process(host, |core, host| core.next_id(host))
    }

    /// Hands `count` IDs to `sink`, run by run; waits at most `max_wait_ms` in all. As [`Snowflake::take`].
    ///
    /// # Errors
    /// Those of [`Generator::next_id`].
    pub fn take<H>(&self, host: &mut H, count: usize, mut sink: impl FnMut(Run<'_>)) -> Result<(), H::Error>
    where
        H: Host,
        H::Error: From<Error>,
    {
        let mut begun = false;
        self.in_this_process(host, |core, host| {
            if begun {
                // Forked while it waited, by a signal handler: the parent goes on with the IDs taken so far.
                return Err(Caught::Final(snowmint_core::Error::forked()));
            }
            core.take(host, count, |run| {
                begun = true;
                sink(run);
            })
        })
    }

    /// Calls the generator of this process, which a forked child has to lease first.
    fn in_this_process<H, T>(
        &self,
        host: &mut H,
        mut call: impl FnMut(&Snowflake<Cell>, &mut Heeding<'_, H>) -> Result<T, Caught<H::Error>>,
    ) -> Result<T, H::Error>
    where
        H: Host,
        H::Error: From<Error>,
    {
        let mut before_ms = 0;
        loop {
            let era = self.open_era()?;
            let outcome = call(&era.core, &mut Heeding::new(host, era.lease(), before_ms));
            match (outcome, &self.terms) {
                (Ok(value), _) => return Ok(value),
                (Err(Caught::Host(error)), _) => return Err(error),
                (Err(Caught::Final(error)), _) => return Err(Error::from(error).into()),
                // Nothing was taken: a wiped cell is so from the first look on.
                (Err(Caught::Refused(error)), Some(terms)) if error.kind() == ErrorKind::Forked => {
                    let share = acquire(&self.layout, self.options, terms, host)?;
                    // A store that was slow leaves the call its time.
                    before_ms = host.paused_ms();
                    self.follow(era, terms, share);
                }
                (Err(Caught::Refused(error)), _) => return Err(era.explain(error).into()),
            }
        }
    }

    /// Goes on with another lease after `era`; several threads may come here at once, and one era is enough.
    fn follow<'a>(&'a self, era: &'a Era, terms: &Terms, share: Share) -> &'a Era {
        let next = Box::new(Era::leased(&self.layout, self.options, share));
        let followed = era.next.set(next).is_ok();
        let era = self.era();
        if followed {
            era.settle(self.options, terms);
            fence(Ordering::SeqCst);
            if self.closed.load(Ordering::SeqCst) {
                era.leave(terms);
            }
        }
        era
    }
}

/// Closes every lease of this process over a [`Given`](crate::Given) store or lessor, and gives the rest of its window back: for
/// when such stores are about to go.
pub fn release_given() {
    process::release_given();
}

impl Drop for Generator {
    fn drop(&mut self) {
        self.close();
    }
}

fn claiming() -> Error {
    Error::told(ErrorKind::WindowClosed, "this forked process is leasing a node of its own: try again")
}

fn busy() -> Error {
    Error::told(ErrorKind::NodesExhausted, "no lease within max_wait_ms: another thread of this process is claiming it")
}

/// How often and after how long to look again where every node is locked.
const LOOKS: u32 = 4;
const LOOK_AGAIN_MS: u64 = 5;

/// A share of the lease that `terms` name, which is claimed if this process does not have it.
fn acquire<H>(layout: &Layout, options: Options, terms: &Arc<Terms>, host: &mut H) -> Result<Share, H::Error>
where
    H: Host,
    H::Error: From<Error>,
{
    let mut claim = loop {
        match process().wish(&terms.key) {
            Wish::Granted(share) => return Ok(share),
            // It was another call's, some time ago.
            Wish::Failed(_) => {}
            Wish::Yours(claim) => break claim,
            // Whoever claims may need what this thread holds in its host, so give way rather than wait for a signal.
            Wish::Pending => match options.pause_ms(1, host.paused_ms()) {
                0 => return Err(busy().into()),
                pause_ms => host.pause(pause_ms)?,
            },
        }
    };
    let mut looks = 0;
    loop {
        let now_ms = host.now_ms()?;
        let Some(outcome) = claim_attended(&claim, layout, options, terms, now_ms, host)? else {
            // A signal handler has forked, and this is the child.
            return acquire(layout, options, terms, host);
        };
        match outcome {
            Ok(lease) => match claim.share(&lease) {
                Ok(share) => return Ok(share),
                Err(again) => claim = again,
            },
            Err(Refused::Error(error)) => return Err(error.into()),
            // A holder's lock stays, that of somebody who only looks is gone in a moment.
            Err(Refused::Taken(error)) => {
                looks += 1;
                match options.pause_ms(LOOK_AGAIN_MS, host.paused_ms()) {
                    pause_ms @ 1.. if looks < LOOKS => host.pause(pause_ms)?,
                    _ => return Err(error.into()),
                }
            }
            Err(Refused::NotYet(wait_ms, error)) => match options.pause_ms(wait_ms, host.paused_ms()) {
                0 => return Err(error.into()),
                pause_ms => host.pause(pause_ms)?,
            },
        }
    }
}
