//! The share of a namespace's nodes that one claimer of a service may hold.

use snowmint_core::ErrorKind;
use snowmint_core::lease::Record;

use super::Terms;
use crate::error::Error;

/// A limit of the nodes that holders whose labels begin alike have at a time.
#[derive(Clone, Copy, Debug)]
pub struct Share<'a> {
    /// The beginning of the labels.
    pub prefix: &'a str,
    /// The percentage of the namespace's nodes, 1 to 100. At least one node is allowed.
    pub percent: u8,
    /// How many claims with this prefix are under way, which the store may not show yet.
    pub under_way: u64,
}

impl Share<'_> {
    /// Refuses one more node.
    pub(super) fn refuse(&self, store: &str, terms: &Terms, nodes: &[(u32, Record)], now_ms: i64) -> Result<(), Error> {
        let all = terms.layout.nodes();
        let most = (all.saturating_mul(self.percent.into()) / 100).max(1);
        let is_own =
            |record: &Record| record.is_live(now_ms) && record.label_text().to_string().starts_with(self.prefix);
        let held = nodes.iter().filter(|(_, record)| is_own(record)).count() as u64;
        if held.saturating_add(self.under_way) < most {
            return Ok(());
        }
        let message = format!(
            "{store}, namespace {}: holders named {}... have {held} of {all} nodes, and {most} are the share of one token. Close \
             generators that are not needed, or raise --node-share of the service",
            terms.namespace, self.prefix
        );
        Err(Error::new(ErrorKind::NodesExhausted, message))
    }
}
