//! The last values of many subjects, by one request (NATS 2.11, ADR-31 of its architecture).

use std::time::Duration;

use async_nats::header::{NATS_SEQUENCE, NATS_SUBJECT};
use async_nats::jetstream::context::Context;
use async_nats::{Request, StatusCode};
use futures_util::StreamExt as _;
use serde_json::json;
use tokio::time::timeout;

use super::{Values, is_deleted};
use crate::store::Version;

/// How many subjects one request may name: the server's limit is 1,024.
pub(super) const MAX_SUBJECTS: usize = 1000;
/// The status of the answer that ends a batch.
const END: u16 = 204;
/// The header of that answer: the last revision that the server knew.
const KNOWN: &str = "Nats-UpTo-Sequence";

/// Asks any server of a stream for the last values of these subjects, with their revisions. The value of a deleted key is
/// `None`. The answer is `None` if the server is older than 2.11, does not serve such requests, gives no answer within
/// `patience` (as to a user who may not ask so), leaves a subject out, or does not know the revision `newest` yet.
pub(super) async fn last_values(
    context: &Context,
    stream: &str,
    subjects: &[String],
    newest: Version,
    patience: Duration,
) -> Result<Option<Values>, async_nats::Error> {
    let client = context.client();
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await?;
    let question = serde_json::to_vec(&json!({ "multi_last": subjects }))?;
    let request = Request::new().inbox(inbox).payload(question.into());
    context.send_request(format!("DIRECT.GET.{stream}"), request).await?;
    let mut found = Values::with_capacity(subjects.len());
    while let Ok(Some(answer)) = timeout(patience, answers.next()).await {
        let headers = answer.headers.unwrap_or_default();
        let number = |name: &str| headers.get(name).and_then(|value| value.as_str().parse::<Version>().ok());
        if answer.status == StatusCode::from_u16(END).ok() {
            let is_whole = found.len() == subjects.len() && number(KNOWN).is_some_and(|known| known >= newest);
            return Ok(is_whole.then_some(found));
        }
        let Some((subject, revision)) = headers.get(NATS_SUBJECT).zip(number(NATS_SEQUENCE.as_ref())) else { break };
        found.insert(subject.as_str().to_owned(), ((!is_deleted(&headers)).then(|| answer.payload.to_vec()), revision));
    }
    Ok(None)
}
