//! A claim of a node, as its process sends its requests.

use snowmint_core::Nodes;
use snowmint_core::bytes::label;
use snowmint_core::lease::{Claim, ClaimStep, Renewal, Terms};
use snowmint_core::store::Reply;

use crate::context::Context;
use crate::store::{Answer, Request};

/// A claim under way.
#[derive(Debug)]
pub struct Claiming {
    claim: Claim<'static>,
    asked: Asked,
}

/// The kind of a claim's last request.
#[derive(Clone, Copy, Debug)]
enum Asked {
    List,
    Namespace,
    Node,
}

/// The next step after an answer.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "it is used up at once")]
pub enum Claimed {
    /// Send this request.
    Ask(Request),
    /// The store has granted a node.
    Granted(Renewal),
    /// Claim again after this many ms.
    Rest(u64),
}

impl Claiming {
    /// The first request.
    pub const FIRST: Request = Request::ReadNamespace;

    /// Begins a claim of windows of this length.
    pub fn new(nonce: usize, window_ms: u64, last_node: Option<u32>, context: &Context<'_>) -> Self {
        let claim = Claim::new(Terms {
            layout: context.plan.layout,
            nodes: Nodes::ALL,
            max_ahead_ms: context.plan.max_ahead_ms,
            window_ms,
            last_node,
            system_clock: context.plan.system_clock,
            nonce: nonce as u128,
            label: label("a process"),
        });
        Self { claim, asked: Asked::List }
    }

    /// Takes the answer to the last request; `None` if the process has waited long enough.
    pub fn answer(&mut self, answer: Option<&Answer>, context: &Context<'_>) -> Claimed {
        let claim = &mut self.claim;
        let step = match (answer, self.asked) {
            (Some(Answer::Namespace(found)), _) => claim.namespace(*found),
            (Some(Answer::Nodes(nodes)), _) => {
                for (node, record, version) in nodes {
                    claim.see(*node, record, *version, context.clock_ms);
                }
                claim.listed(context.clock_ms, nodes.len() as u64)
            }
            (Some(Answer::Node(reply)), Asked::Namespace) => claim.namespace_reply(*reply),
            (Some(Answer::Node(reply)), _) => claim.reply(*reply),
            (_, Asked::Namespace) => claim.namespace_reply(Reply::Unknown),
            (_, Asked::Node) => claim.reply(Reply::Unknown),
            (_, Asked::List) => return Claimed::Rest(context.plan.window_ms / 4),
        };
        self.advance(step, context)
    }

    #[allow(clippy::large_types_passed_by_value, reason = "a step is used up")]
    fn advance(&mut self, step: ClaimStep, context: &Context<'_>) -> Claimed {
        let (asked, request) = match step {
            ClaimStep::ReadNamespace => (Asked::List, Request::ReadNamespace),
            // The store has no floor: a fence writes the namespace's record too.
            ClaimStep::ReadFloor => {
                let step = self.claim.floor(None);
                return self.advance(step, context);
            }
            ClaimStep::WriteNamespace(record, version) => (Asked::Namespace, Request::WriteNamespace(record, version)),
            ClaimStep::ListNodes => (Asked::List, Request::List),
            ClaimStep::ReadClock => {
                let step = self.claim.clock(Some(context.store_ms), context.clock_ms);
                return self.advance(step, context);
            }
            ClaimStep::Ask(node, ask) => (Asked::Node, Request::Node(node, ask)),
            ClaimStep::Granted(renewal, _) => return Claimed::Granted(renewal),
            ClaimStep::Wait(wait_ms, _) => return Claimed::Rest(wait_ms.min(context.plan.window_ms)),
            ClaimStep::Taken(_) | ClaimStep::Unanswered | ClaimStep::Refused(_) => {
                return Claimed::Rest(context.plan.window_ms);
            }
        };
        self.asked = asked;
        Claimed::Ask(request)
    }
}
