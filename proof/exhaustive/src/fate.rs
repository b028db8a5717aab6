//! The fate of a request.

/// What happens to a request that is on its way to the store, and to its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// The store carries it out and replies.
    Fine,
    /// The store carries it out, and the reply is lost.
    Unheard,
    /// The request is lost.
    Dropped,
    /// The request arrives twice, and the second reply comes through.
    Repeated,
    /// The sender gives up waiting, and the request arrives later or never.
    Late,
}

impl Fate {
    /// All fates, the one that costs no fault first.
    pub const ALL: [Self; 5] = [Self::Fine, Self::Unheard, Self::Dropped, Self::Repeated, Self::Late];

    /// Returns the fates that a budget of faults allows.
    pub fn within(faults: u8) -> &'static [Self] {
        const { &Self::ALL }.split_at(if faults > 0 { 5 } else { 1 }).0
    }

    /// Returns how many faults it costs.
    pub fn cost(self) -> u8 {
        u8::from(self != Self::Fine)
    }
}
