//! The store: it keeps the records, and requests meet their fate on the way to it.

use snowmint_core::lease::{NamespaceRecord, Record};
use snowmint_core::store::{Ask, Reply, Version};

use super::{Broken, Kept, State};
use crate::fate::Fate;

impl State {
    pub(super) fn reply(&mut self, node: u32, ask: Ask<Record>) -> Reply<Record> {
        let kept = self.nodes[node as usize];
        match ask {
            Ask::Read => {
                kept.map_or(Reply::Record(None, 0), |Kept(record, version)| Reply::Record(Some(record), version))
            }
            Ask::Write(record, expected) => {
                if kept.map_or(0, |Kept(_, version)| version) != expected {
                    return Reply::Conflict;
                }
                if kept.is_some_and(|Kept(old, _)| old.nonce != record.nonce) {
                    self.taken_over = true;
                }
                self.nodes[node as usize] = Some(Kept(record, expected + 1));
                if let Some(holder) = self.holders.iter_mut().find(|holder| holder.nonce == record.nonce) {
                    let before = holder.granted[node as usize].replace(record.window);
                    if !record.released && before.is_some_and(|window| window.end_ms > record.window.end_ms) {
                        self.broken = Some(Broken::Shrunk);
                    }
                }
                Reply::Written(expected + 1)
            }
            Ask::Add(_) => unreachable!("leases have no counter"),
        }
    }

    pub(super) fn namespace_reply(&mut self, record: NamespaceRecord, expected: Version) -> Reply<Record> {
        if self.namespace.2 != expected {
            return Reply::Conflict;
        }
        self.namespace = (record.nodes, record.floor_ms, expected + 1);
        Reply::Written(expected + 1)
    }

    pub(super) fn namespace_record(&self) -> Option<(NamespaceRecord, Version)> {
        let (nodes, floor_ms, version) = self.namespace;
        (version > 0).then_some((NamespaceRecord { nodes, floor_ms, removed: false }, version))
    }

    /// Lets a request meet its fate, by `carry_out`.
    pub(super) fn meet<R>(&mut self, fate: Fate, mut carry_out: impl FnMut(&mut Self) -> Reply<R>) -> Reply<R> {
        self.faults -= fate.cost();
        match fate {
            Fate::Fine => carry_out(self),
            Fate::Unheard => {
                carry_out(self);
                Reply::Unknown
            }
            Fate::Repeated => {
                carry_out(self);
                carry_out(self)
            }
            Fate::Dropped | Fate::Late => Reply::Unknown,
        }
    }
}
