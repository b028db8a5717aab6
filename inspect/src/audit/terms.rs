//! The terms of an audit: the layout, the time of the system, and how late lines of the log can be.

use snowmint_core::{Field, Layout};

/// How late a line of a log is at most, in ms, unless the caller says otherwise. Threads that write down their IDs
/// overtake each other by less.
pub const DEFAULT_JITTER_MS: u64 = 10;
/// How far the clock of another machine is ahead without being wrong, in ms.
const MAX_SKEW_MS: i64 = 60_000;
/// Changes between two runs of IDs that lie closer together than this belong to one fault, in ms.
const MAX_GAP_MS: u64 = 60_000;

/// The order of the IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they were written down.
    Written,
    /// Ascending. A log of a single node without faults is ascending, too.
    Ascending,
    /// Descending: read backwards, it is ascending.
    Descending,
    /// None: findings that need the order are left out.
    Unordered,
}

impl Order {
    /// All orders.
    pub const ALL: [Self; 4] = [Self::Written, Self::Ascending, Self::Descending, Self::Unordered];

    /// Returns the word for people and programs.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::Order;
    /// assert_eq!(Order::Written.name(), "written");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Ascending => "ascending",
            Self::Descending => "descending",
            Self::Unordered => "unordered",
        }
    }
}

/// The parts of an ID that an audit looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spot {
    /// The value of the time field.
    pub(super) tick: u64,
    /// All node fields, concatenated high to low.
    pub(super) node: u32,
    /// The counter within the tick; 0 if the layout has none.
    pub(super) sequence: u64,
}

/// What an ID is under the layout and the time of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// The layout can have minted the ID, in the time of the system.
    Inside(Spot),
    /// The time is before the begin of the system.
    BeforeBegin(Spot),
    /// The time is in the future.
    Future(Spot),
    /// A bit is set that the layout does not have. True: the time field ran over into it.
    Outside(bool),
}

/// The terms of an audit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) layout: Layout,
    since_ms: i64,
    until_ms: i64,
    now_ms: i64,
    pub(super) jitter: u64,
    pub(super) together: u64,
}

impl Terms {
    /// Makes terms of a layout. `since_ms`: when the system began; `None`: at the epoch. `until_ms`: later IDs are in the
    /// future; `None`: a minute after `now_ms`. `jitter_ms`: how late a line of the log is at most. All times are Unix ms.
    pub(super) fn new(
        layout: &Layout,
        since_ms: Option<i64>,
        until_ms: Option<i64>,
        jitter_ms: u64,
        now_ms: i64,
    ) -> Self {
        Self {
            layout: *layout,
            since_ms: since_ms.unwrap_or(i64::MIN),
            until_ms: until_ms.unwrap_or(now_ms.saturating_add(MAX_SKEW_MS)),
            now_ms,
            jitter: jitter_ms.div_ceil(layout.tick_ms()),
            together: (MAX_GAP_MS / layout.tick_ms()).max(1),
        }
    }

    /// Returns the layout.
    pub(super) const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Classifies an ID.
    #[inline]
    pub(super) fn sight(&self, id: u64) -> Sight {
        let Ok(parts) = self.layout.decode(id) else {
            return Sight::Outside(self.is_past_end(id));
        };
        let spot = Spot { tick: parts.tick, node: parts.node, sequence: parts.sequence };
        if parts.timestamp_ms < self.since_ms {
            Sight::BeforeBegin(spot)
        } else if parts.timestamp_ms > self.until_ms {
            Sight::Future(spot)
        } else {
            Sight::Inside(spot)
        }
    }

    /// Returns the start of a tick of this layout, Unix ms.
    pub(super) fn tick_start_ms(&self, tick: u64) -> i64 {
        self.layout.tick_start_ms(tick.min(self.layout.time().max()))
    }

    /// Returns the eighth of the layout's time that a tick lies in, 0 to 7.
    pub(super) const fn eighth(&self, tick: u64) -> usize {
        let width = self.layout.time().width();
        if width < 3 { tick as usize & 7 } else { (tick >> (width - 3)) as usize & 7 }
    }

    /// Returns whether the IDs show a time field that ran over: some lie in the last eighth of the layout's time, some
    /// in the first, and at most 1 % between. `eighths` counts the IDs by [`eighth`](Self::eighth).
    pub(super) fn has_ended(eighths: &[u64; 8]) -> bool {
        let [first, .., last] = *eighths;
        let between: u64 = eighths[1..7].iter().sum();
        first > 0 && last > 0 && between <= (first + last) / 100
    }

    /// Returns whether no generator can mint IDs of the layout at present.
    pub(super) fn is_over(&self) -> bool {
        self.layout.refuse_if_over(self.now_ms).is_err()
    }

    /// Returns the bits of the lowest field, if it counts or is random.
    pub(super) fn counting(&self) -> Option<u64> {
        [self.layout.sequence(), self.layout.random()].into_iter().map(Field::mask).find(|mask| mask & 1 == 1)
    }

    /// Returns the tick and the node of IDs as a prefix of their bits, if only the sequence lies below: IDs of one tick and
    /// node then lie side by side when sorted. The second number is how many IDs such a tick has at most.
    pub(super) fn ticks_side_by_side(&self) -> Option<(u32, u64)> {
        let sequence = self.layout.sequence();
        (sequence.mask() & 1 == 1 && sequence.width() < 32 && self.layout.random().width() == 0)
            .then(|| (sequence.width(), self.layout.ids_per_tick()))
    }

    /// Returns whether the time of a node ran over between two IDs, from the last eighth of its range to the first one.
    pub(super) const fn ran_over(&self, from: u64, to: u64) -> bool {
        self.layout.time().width() >= 3 && self.eighth(from) == 7 && self.eighth(to) == 0
    }

    /// Returns whether an ID shows a time shortly after the last tick: the time field ran over into the bits above the
    /// layout.
    fn is_past_end(&self, id: u64) -> bool {
        let time = self.layout.time();
        let beyond = (id >> time.shift()).wrapping_sub(time.max()).wrapping_sub(1);
        time.width() >= 3 && time.width() < 64 && beyond <= time.max() / 8
    }
}
