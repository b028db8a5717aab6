//! A process that takes over the section of some users and hands out their numbers.

use std::num::NonZeroU32;

use snowmint_core::Integer;
use snowmint_core::bytes::label;
use snowmint_core::section::{Claim, Claimed, Record, Section, Terms, Users};
use snowmint_core::store::{Next, Reply};

use crate::context::Context;
use crate::plan::Plan;
use crate::store::{Answer, Request};

/// By how much the durable maximum rises.
const STEP: Integer = Integer::Fits(7);
#[allow(clippy::cast_possible_truncation, reason = "8")]
const SIZE: NonZeroU32 = NonZeroU32::new(Plan::USERS as u32).expect("not 0");

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a process has one")]
enum Way {
    Rests,
    Claims(Claim),
    Holds(Section<Vec<u64>>),
    /// The release is on its way.
    Releases,
}

/// A process that takes over the section of some users and hands out their numbers.
#[derive(Debug)]
pub struct Keeper {
    way: Way,
    /// When the claim goes on, by the steady clock.
    look_at_ms: u64,
}

impl Keeper {
    /// Makes a process that has just started.
    pub const fn new() -> Self {
        Self { way: Way::Rests, look_at_ms: 0 }
    }

    /// Acts: claims, hands out numbers, renews or releases. Returns a request to the store.
    pub fn wake(&mut self, context: &mut Context<'_>, waits: bool) -> Option<Request> {
        match &mut self.way {
            Way::Rests => {
                let token = u128::from(context.random.next());
                let users = Users::of(Integer::Fits(0), SIZE);
                let terms = users.and_then(|users| Terms::new(users, token, STEP, context.plan.window_ms, label("")));
                // Terms are refused for windows below a second, which no plan has.
                let Ok(terms) = terms else { return None };
                let mut claim = Claim::new(terms);
                claim.begin_above(context.skip);
                self.way = Way::Claims(claim);
                self.go_on(None, context)
            }
            Way::Claims(_) if !waits && context.steady_ms >= self.look_at_ms => self.go_on(None, context),
            Way::Claims(_) | Way::Releases => None,
            Way::Holds(section) => {
                for _ in 0..=context.random.below(4) {
                    #[allow(clippy::cast_possible_truncation, reason = "below 8")]
                    let user = context.random.below(Plan::USERS as u64) as usize;
                    match section.next(Integer::from(user as u64), context.steady_ms) {
                        Ok(Next::Done(number)) => context.checker.numbered_user(user, number),
                        Ok(Next::Ask(ask)) => return Some(Request::Section(ask)),
                        Err(error) if error.retry_after_ms().is_some() => {}
                        Err(_) => {
                            self.way = Way::Rests;
                            return None;
                        }
                    }
                }
                if !waits && context.random.happens(8) {
                    let released = section.release();
                    self.way = if released.is_some() { Way::Releases } else { Way::Rests };
                    return released.map(Request::Section);
                }
                let Ok(asked) = section.renew(context.steady_ms) else {
                    self.way = Way::Rests;
                    return None;
                };
                asked.map(Request::Section)
            }
        }
    }

    fn go_on(&mut self, reply: Option<Reply<Record>>, context: &Context<'_>) -> Option<Request> {
        let Way::Claims(claim) = &mut self.way else { return None };
        match claim.next(reply, context.steady_ms) {
            Ok(Next::Done(Claimed::Held(held))) => {
                self.way = Way::Holds(Section::new(held, vec![0; Plan::USERS]));
                None
            }
            Ok(Next::Done(Claimed::Wait(wait_ms))) => {
                self.look_at_ms = context.steady_ms + wait_ms;
                None
            }
            Ok(Next::Ask(ask)) => Some(Request::Section(ask)),
            Err(_) => {
                self.way = Way::Rests;
                None
            }
        }
    }

    /// Takes the answer to the last request; `None` if the process has waited long enough.
    pub fn answer(&mut self, answer: Option<&Answer>, context: &Context<'_>) -> Option<Request> {
        let reply = match answer {
            Some(Answer::Section(reply)) => *reply,
            _ => Reply::Unknown,
        };
        match &mut self.way {
            Way::Claims(_) => self.go_on(Some(reply), context),
            Way::Holds(section) => {
                if section.reply(reply, context.steady_ms).is_err() {
                    self.way = Way::Rests;
                }
                None
            }
            Way::Releases => {
                self.way = Way::Rests;
                None
            }
            Way::Rests => None,
        }
    }
}

impl Default for Keeper {
    fn default() -> Self {
        Self::new()
    }
}
