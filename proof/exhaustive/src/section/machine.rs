//! Core's machines of an allocator: first the claim, then the section.

use std::num::NonZeroU32;

use snowmint_core::Integer;
use snowmint_core::bytes::label;
use snowmint_core::section::{Claim, Claimed, Memory, Record, Section, Terms, Users};
use snowmint_core::store::{Ask, Next, Reply};

use super::{USERS, WINDOW_MS};

/// By how much `max_seq` rises.
const STEP: u64 = 2;
const SIZE: NonZeroU32 = NonZeroU32::new(2).expect("not 0");

/// A memory that forgets the users when it may.
#[derive(Debug, Default)]
pub(super) struct Known([u64; USERS]);

impl Memory for Known {
    const REACH: u64 = u64::MAX;

    fn last(&mut self, place: usize) -> Option<u64> {
        self.0.get(place).copied()
    }

    fn keep(&mut self, place: usize, number: u64) -> bool {
        self.0[place] = number;
        true
    }

    fn forget(&mut self, _: u64) {
        *self = Self::default();
    }
}

/// A call of the machines of an allocator.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    /// A step of the claim.
    Claim(Option<Reply<Record>>, u64),
    Next(usize, u64),
    Renew(u64),
    Reply(Reply<Record>, u64),
    Forget,
    Release,
}

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Answer {
    Number(u64),
    Ask(Ask<Record>),
    Nothing,
    Refused,
    /// The allocator closes the section, or another allocator has it.
    Over,
}

#[allow(clippy::large_enum_variant, reason = "it lives for one call")]
#[derive(Debug)]
pub(super) enum Machine {
    Claim(Claim),
    Section(Section<Known>),
}

impl Machine {
    pub(super) fn new(token: u128) -> Self {
        let users = Users::of(Integer::from(0u64), SIZE).expect("a user");
        let terms = Terms::new(users, token, Integer::from(STEP), WINDOW_MS, label("")).expect("terms");
        Self::Claim(Claim::new(terms))
    }

    pub(super) fn run(&mut self, call: Call) -> Answer {
        match (&mut *self, call) {
            (Self::Claim(claim), Call::Claim(reply, now_ms)) => match claim.next(reply, now_ms) {
                Ok(Next::Done(Claimed::Held(held))) => {
                    *self = Self::Section(Section::new(held, Known::default()));
                    Answer::Nothing
                }
                Ok(Next::Done(Claimed::Wait(_))) => Answer::Nothing,
                Ok(Next::Ask(ask)) => Answer::Ask(ask),
                Err(_) => Answer::Over,
            },
            (Self::Section(section), Call::Next(user, now_ms)) => match section.next(Integer::from(user), now_ms) {
                Ok(Next::Done(number)) => Answer::Number(number),
                Ok(Next::Ask(ask)) => Answer::Ask(ask),
                Err(error) if error.retry_after_ms().is_some() => Answer::Refused,
                Err(_) => Answer::Over,
            },
            (Self::Section(section), Call::Renew(now_ms)) => match section.renew(now_ms) {
                Ok(Some(ask)) => Answer::Ask(ask),
                Ok(None) => Answer::Refused,
                Err(_) => Answer::Over,
            },
            (Self::Section(section), Call::Reply(reply, now_ms)) => {
                section.reply(reply, now_ms).map_or(Answer::Over, |()| Answer::Nothing)
            }
            (Self::Section(section), Call::Forget) => {
                section.forget();
                Answer::Nothing
            }
            (Self::Section(section), Call::Release) => section.release().map_or(Answer::Over, Answer::Ask),
            _ => Answer::Refused,
        }
    }
}
