//! What an action does to the state.

use snowmint_core::bytes::label;
use snowmint_core::lease::{Claim, ClaimStep, NamespaceRecord, Record, RenewalStep, Terms};
use snowmint_core::store::{Ask, Reply};
use snowmint_core::{Options, Snowflake, Words};

use super::holder::{Holder, Phase};
use super::{Action, Broken, Kept, Late, State, WINDOW_MS, layout};
use crate::fate::Fate;

impl State {
    fn emit(&mut self, holder: usize, id: u64) {
        self.ids -= 1;
        let tick = layout().decode(id).expect("an ID of the layout").timestamp_ms;
        let Holder { node, granted, last, .. } = &mut self.holders[holder];
        let window = granted[*node as usize];
        let before = last.replace(id);
        if self.minted & (1 << id) != 0 {
            self.broken = Some(Broken::Twice);
        } else if !window.is_some_and(|window| (window.start_ms..window.end_ms).contains(&tick)) {
            self.broken = Some(Broken::Outside);
        } else if before.is_some_and(|before| before >= id) {
            self.broken = Some(Broken::Back);
        }
        self.minted |= 1 << id;
    }

    /// Puts a claim at its next step; a claim that has failed ends.
    fn advance(&mut self, at: usize, mut claim: Claim<'static>, mut step: ClaimStep) {
        if let ClaimStep::ReadNamespace = step {
            step = claim.namespace(self.namespace_record());
        }
        match step {
            ClaimStep::ListNodes | ClaimStep::Ask(..) | ClaimStep::WriteNamespace(..) => {
                self.holders[at].turn(Phase::Claims(claim, step));
            }
            ClaimStep::Granted(renewal, _) => {
                let words = Words::wiped();
                if words.open(layout(), renewal.window()) {
                    let holder = &mut self.holders[at];
                    (holder.cell, holder.node) = (words.to_words(), renewal.node());
                    holder.turn(Phase::Holds(renewal, None));
                } else {
                    self.holders.remove(at);
                }
            }
            _ => drop(self.holders.remove(at)),
        }
    }

    /// Lists the records for a claim. A claimer that has to wait looks again later, so nothing happens.
    fn list(&mut self, at: usize, mut claim: Claim<'static>, now_ms: i64) -> Option<()> {
        let mut records = 0;
        for (node, kept) in (0..).zip(&self.nodes) {
            if let Some(Kept(record, version)) = kept {
                claim.see(node, record, *version, now_ms);
                records += 1;
            }
        }
        match claim.listed(now_ms, records) {
            ClaimStep::Wait(..) => return None,
            step => self.advance(at, claim, step),
        }
        Some(())
    }

    /// Closes the cell of a holder; the holder lives until its stalled call is over.
    fn end(&mut self, at: usize) {
        let holder = &mut self.holders[at];
        if holder.call.is_some() {
            let words = holder.words();
            words.close(layout());
            holder.cell = words.to_words();
            holder.turn(Phase::Closed);
        } else {
            self.holders.remove(at);
        }
    }

    fn store(&mut self, at: usize, fate: Fate) -> Option<()> {
        match *self.holders[at].phase {
            Phase::Claims(mut claim, ClaimStep::WriteNamespace(record, version)) => {
                if fate == Fate::Late {
                    return None;
                }
                let reply = self.meet(fate, |state| state.namespace_reply(record, version));
                let step = claim.namespace_reply(reply);
                self.advance(at, claim, step);
            }
            Phase::Claims(mut claim, ClaimStep::Ask(node, ask)) => {
                let reply = self.ask(node, ask, fate)?;
                let step = claim.reply(reply);
                self.advance(at, claim, step);
            }
            Phase::Holds(mut lease, Some(ask)) => {
                let reply = self.ask(lease.node(), ask, fate)?;
                let step = lease.reply(reply);
                self.recovered |= matches!((reply, step), (Reply::Record(..), RenewalStep::Window(..)));
                match step {
                    RenewalStep::Ask(ask) => self.holders[at].turn(Phase::Holds(lease, Some(ask))),
                    RenewalStep::Window(window, _) => {
                        let words = self.holders[at].words();
                        words.extend(layout(), window.end_ms);
                        self.holders[at].cell = words.to_words();
                        self.holders[at].turn(Phase::Holds(lease, None));
                    }
                    RenewalStep::Later(_) if self.holders[at].cell[0] != 0 => {
                        self.holders[at].turn(Phase::Holds(lease, None));
                    }
                    // Lost or released; or the release had no answer.
                    _ => self.end(at),
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn ask(&mut self, node: u32, ask: Ask<Record>, fate: Fate) -> Option<Reply<Record>> {
        match (ask, fate) {
            // One request at a time is late.
            (Ask::Write(record, version), Fate::Late)
                if self.late.replace(Late(node, Kept(record, version))).is_some() =>
            {
                return None;
            }
            // A read changes nothing, so only the loss of its reply counts.
            (Ask::Read, Fate::Unheard | Fate::Late | Fate::Repeated) => return None,
            _ => {}
        }
        Some(self.meet(fate, |state| state.reply(node, ask)))
    }

    pub(super) fn act(&mut self, action: Action) -> Option<()> {
        match action {
            Action::Claim { now_ms } => {
                self.lives -= 1;
                let nonce = u128::from(self.lives);
                let mut claim = Claim::new(Terms {
                    layout: layout(),
                    node: None,
                    max_ahead_ms: 0,
                    window_ms: WINDOW_MS,
                    last_node: None,
                    system_clock: false,
                    nonce,
                    label: label(""),
                });
                self.holders.push(Holder::new(nonce));
                claim.namespace(self.namespace_record());
                self.list(self.holders.len() - 1, claim, now_ms)?;
            }
            Action::List { holder, now_ms } => {
                let Phase::Claims(claim, ClaimStep::ListNodes) = *self.holders[holder].phase else { return None };
                self.list(holder, claim, now_ms)?;
            }
            Action::Store { holder, fate } => self.store(holder, fate)?,
            Action::Arrive => {
                let Late(node, Kept(record, version)) = self.late.take()?;
                self.reply(node, Ask::Write(record, version));
            }
            Action::Mint { holder, now_ms } => {
                let Holder { node, .. } = self.holders[holder];
                let words = self.holders[holder].words();
                let generator = Snowflake::with(layout(), node, Options::DEFAULT, words);
                let id = generator.try_next_id(now_ms).ok()?;
                self.holders[holder].cell = generator.words().to_words();
                self.emit(holder, id);
            }
            Action::Stall { holder } => self.holders[holder].call = Some(self.holders[holder].cell[0]),
            Action::Resume { holder, now_ms } => {
                let Holder { node, cell, .. } = self.holders[holder];
                let word = self.holders[holder].call.take()?;
                // The step as the stalled call computes it, from the word that it has read.
                let stalled = Snowflake::with(layout(), node, Options::DEFAULT, Words::of([word, cell[1]]));
                let words = self.holders[holder].words();
                let id = match stalled.try_next_id(now_ms) {
                    Ok(id) if words.swap(word, stalled.words().to_words()[0]).is_ok() => {
                        self.holders[holder].cell = words.to_words();
                        Some(id)
                    }
                    // It fails, or begins again: a call that begins now is another event.
                    _ => None,
                };
                if let Some(id) = id {
                    self.emit(holder, id);
                }
                if let Phase::Closed = *self.holders[holder].phase {
                    self.holders.remove(holder);
                }
            }
            Action::Renew { holder, now_ms } => {
                self.writes -= 1;
                let Phase::Holds(mut lease, None) = *self.holders[holder].phase else { return None };
                let last_ms = self.holders[holder].words().unused_from_ms(layout())?;
                let RenewalStep::Ask(ask) = lease.renew(now_ms, last_ms, WINDOW_MS) else { return None };
                self.holders[holder].turn(Phase::Holds(lease, Some(ask)));
            }
            Action::Release { holder } => {
                self.writes -= 1;
                let Phase::Holds(mut lease, None) = *self.holders[holder].phase else { return None };
                let words = self.holders[holder].words();
                let end_ms = words.close(layout())?;
                self.holders[holder].cell = words.to_words();
                let RenewalStep::Ask(ask) = lease.release(end_ms) else { return None };
                self.holders[holder].turn(Phase::Holds(lease, Some(ask)));
            }
            Action::Crash { holder } => {
                self.faults -= 1;
                self.holders.remove(holder);
            }
            Action::Restore => {
                self.disaster = true;
                self.holders.clear();
                self.late = None;
                self.nodes = [None; 2];
                // Each tick is 1 ms, and each holds four IDs.
                let until_ms = i64::from((32 - self.minted.leading_zeros()).div_ceil(4));
                let fenced = NamespaceRecord::default().raised(until_ms);
                self.namespace = (fenced.nodes, fenced.floor_ms, self.namespace.2 + 1);
            }
            Action::Vanish { node } => {
                self.disaster = true;
                self.nodes[node].take()?;
            }
        }
        Some(())
    }
}
