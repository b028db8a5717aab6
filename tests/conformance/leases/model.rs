//! A small world of leases: a disk with a few slots, and holders whose clocks follow a script.
//!
//! Cells, windows and minting are core's code; the model plays the part of `stores` with its files and locks. Steps are
//! atomic here. Loom checks the interleavings between a call's load of its cell and its swap.

use snowmint_core::{Layout, Options, Snowflake, Window, Words};

/// An action of a holder, at the time of its clock.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Mints this many single IDs; claims a lease first if the holder has no lease.
    Mint(u8),
    /// Mints a run of at most this many IDs; claims as `Mint` does.
    Run(u8),
    /// Extends the window.
    Renew,
    /// Releases the rest of the window.
    Release,
    /// Dies: the lock is freed, the window's end stays on disk.
    Crash,
    /// Loses the lock, for instance to an operator, and continues without noticing.
    Evict,
    /// Mints from the cell that the holder closed last.
    Late,
}

/// One line of a script.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub holder: usize,
    /// How far the holder's clock moves before the action.
    pub clock_ms: i64,
    pub action: Action,
}

/// The terms that all holders of a world share.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub layout: Layout,
    pub holders: usize,
    pub max_ahead_ms: u64,
    pub window_ms: u64,
    /// The start of all clocks, Unix ms.
    pub start_ms: i64,
}

/// An ID, and the window that was on disk for its holder when it was minted.
#[derive(Clone, Copy, Debug)]
pub struct Minted {
    pub id: u64,
    /// The number of the lease in the world.
    pub lease: usize,
    pub now_ms: i64,
    pub window: Window,
}

/// The result of a script.
#[derive(Debug, Default)]
pub struct Report {
    /// In the order of minting.
    pub minted: Vec<Minted>,
    /// For each node claimed after a crash: how far the end on disk lay past the last use of the node, ms.
    pub gaps_ms: Vec<i64>,
}

/// A slot file and the state of its lock.
#[derive(Clone, Debug, Default)]
struct Slot {
    end_ms: Option<i64>,
    locked: bool,
    /// After a crash: the latest of the ticks used and the clock at the last grant or renewal.
    used_ms: Option<i64>,
}

#[derive(Debug)]
struct Lease {
    number: usize,
    slot: usize,
    generator: Snowflake,
    window: Window,
    granted_ms: i64,
    evicted: bool,
}

#[derive(Debug)]
struct Holder {
    now_ms: i64,
    lease: Option<Lease>,
    given_up: Option<Lease>,
}

/// Plays a script.
pub fn play(terms: &Terms, script: impl IntoIterator<Item = Step>) -> Report {
    let mut world = World::new(terms);
    for step in script {
        let number = step.holder % world.holders.len();
        world.holders[number].now_ms += step.clock_ms;
        world.act(number, step.action);
    }
    world.report
}

struct World<'a> {
    terms: &'a Terms,
    slots: Vec<Slot>,
    holders: Vec<Holder>,
    report: Report,
    leases: usize,
}

impl<'a> World<'a> {
    fn new(terms: &'a Terms) -> Self {
        let holder = |_| Holder { now_ms: terms.start_ms, lease: None, given_up: None };
        let slot = |_| Slot::default();
        Self {
            terms,
            slots: (0..terms.layout.nodes()).map(slot).collect(),
            holders: (0..terms.holders).map(holder).collect(),
            report: Report::default(),
            leases: 0,
        }
    }

    const fn reach_ms(&self) -> u64 {
        self.terms.max_ahead_ms + self.terms.window_ms
    }

    fn act(&mut self, number: usize, action: Action) {
        let now_ms = self.holders[number].now_ms;
        if let Action::Late = action {
            if let Some(lease) = self.holders[number].given_up.take() {
                self.mint(&lease, now_ms, 1);
                self.holders[number].given_up = Some(lease);
            }
            return;
        }
        let held = self.holders[number].lease.take();
        let claims = matches!(action, Action::Mint(_) | Action::Run(_));
        let Some(mut lease) = held.or_else(|| if claims { self.claim(now_ms) } else { None }) else { return };
        let keeps = match action {
            Action::Mint(count) => self.mint(&lease, now_ms, count),
            Action::Run(count) => self.run(&lease, now_ms, count),
            Action::Renew => self.renew(&mut lease, now_ms),
            Action::Release => self.release(&lease),
            Action::Crash => self.leave(&lease),
            Action::Evict => {
                self.leave(&lease);
                lease.evicted = true;
                true
            }
            Action::Late => true,
        };
        let holder = &mut self.holders[number];
        if keeps {
            holder.lease = Some(lease);
        } else if !matches!(action, Action::Crash) {
            holder.given_up = Some(lease);
        }
    }

    /// Claims a slot: the lowest node that is free and can mint at once.
    fn claim(&mut self, now_ms: i64) -> Option<Lease> {
        let Terms { layout, max_ahead_ms, .. } = *self.terms;
        let reach_ms = self.reach_ms();
        let usable = |slot: &Slot| {
            let window = Window::first(&layout, slot.end_ms, now_ms, reach_ms);
            let from_ms = layout.mints_from_ms(window.start_ms)?;
            (!slot.locked && from_ms <= now_ms.saturating_add_unsigned(max_ahead_ms)).then_some(window)
        };
        let (slot, window) = self.slots.iter().enumerate().find_map(|(at, slot)| Some((at, usable(slot)?)))?;
        let previous =
            std::mem::replace(&mut self.slots[slot], Slot { end_ms: Some(window.end_ms), locked: true, used_ms: None });
        self.report.gaps_ms.extend(previous.used_ms.zip(previous.end_ms).map(|(used_ms, end_ms)| end_ms - used_ms));
        let words = Words::wiped();
        assert!(words.open(&layout, window), "the layout has ticks there");
        let options = Options { max_ahead_ms, ..Options::DEFAULT };
        let node = u32::try_from(slot).expect("few nodes");
        self.leases += 1;
        Some(Lease {
            number: self.leases,
            slot,
            generator: Snowflake::with(&layout, node, options, words),
            window,
            granted_ms: now_ms.max(window.start_ms),
            evicted: false,
        })
    }

    fn mint(&mut self, lease: &Lease, now_ms: i64, count: u8) -> bool {
        for _ in 0..count {
            self.note(lease, now_ms, lease.generator.try_next_id(now_ms));
        }
        true
    }

    fn run(&mut self, lease: &Lease, now_ms: i64, count: u8) -> bool {
        // An odd count takes the free IDs, even if they are fewer.
        let patience_ms = if count.is_multiple_of(2) { 0 } else { u64::MAX };
        let run = lease.generator.try_run(now_ms, u64::from(count.max(1)), patience_ms);
        self.note(lease, now_ms, run.into_iter().flatten());
        true
    }

    fn note(&mut self, lease: &Lease, now_ms: i64, ids: impl IntoIterator<Item = u64>) {
        let minted = |id| Minted { id, lease: lease.number, now_ms, window: lease.window };
        self.report.minted.extend(ids.into_iter().map(minted));
    }

    /// Extends the window, on disk before it is used. A holder that has lost its slot closes its cell instead.
    fn renew(&mut self, lease: &mut Lease, now_ms: i64) -> bool {
        let (words, layout) = (lease.generator.words(), &self.terms.layout);
        if lease.evicted {
            words.close(layout);
            return false;
        }
        let last_ms = words.unused_from_ms(layout).expect("it is open");
        lease.window.end_ms = lease.window.renewed_end_ms(now_ms, last_ms, self.reach_ms());
        lease.granted_ms = lease.granted_ms.max(now_ms);
        self.slots[lease.slot].end_ms = Some(lease.window.end_ms);
        words.extend(layout, lease.window.end_ms);
        true
    }

    fn release(&mut self, lease: &Lease) -> bool {
        let end_ms = lease.generator.words().close(&self.terms.layout);
        if !lease.evicted {
            self.slots[lease.slot] = Slot { end_ms, ..Slot::default() };
        }
        false
    }

    /// Frees the lock and leaves the file on disk unchanged.
    fn leave(&mut self, lease: &Lease) -> bool {
        if !lease.evicted {
            let unused_ms = lease.generator.words().unused_from_ms(&self.terms.layout);
            let slot = &mut self.slots[lease.slot];
            slot.locked = false;
            slot.used_ms = unused_ms.max(Some(lease.granted_ms));
        }
        false
    }
}
