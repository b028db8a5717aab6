//! Events, in the order of their time.

use std::fmt;

use crate::store::{Answer, Request};

#[derive(Debug)]
pub(super) enum What {
    Wake(usize, u32),
    Arrive { process: usize, life: u32, number: u64, epoch: u32, request: Box<Request> },
    Answer { process: usize, life: u32, number: u64, answer: Option<Box<Answer>> },
    Chaos,
    Fence,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wake(process, _) => write!(f, "process {process} acts"),
            Self::Arrive { process, number, request, .. } => {
                write!(f, "request {number} of process {process} reaches the store: {request}")
            }
            Self::Answer { process, number, answer: Some(answer), .. } => {
                write!(f, "answer to request {number} reaches process {process}: {answer}")
            }
            Self::Answer { process, number, answer: None, .. } => {
                write!(f, "process {process} has waited long enough for the answer to request {number}")
            }
            Self::Chaos => write!(f, "a fault is due"),
            Self::Fence => write!(f, "all processes stop, and an operator runs a fence"),
        }
    }
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) at_ms: u64,
    /// Events of one time have the order in which they were planned.
    pub(super) number: u64,
    pub(super) what: What,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        (self.at_ms, self.number) == (other.at_ms, other.number)
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at_ms, self.number).cmp(&(other.at_ms, other.number))
    }
}
