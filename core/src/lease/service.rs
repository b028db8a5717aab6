//! How a client reads the service's answer to a request that got no lease: every language follows the same rules.

use crate::error::ErrorKind;

/// The codes of the service's refusals. An answer with any other code is a [`ErrorKind::StoreUnavailable`].
pub const REFUSALS: [&str; 11] = [
    ErrorKind::BeforeEpoch.code(),
    ErrorKind::Exhausted.code(),
    ErrorKind::InvalidId.code(),
    ErrorKind::InvalidLayout.code(),
    ErrorKind::InvalidNode.code(),
    ErrorKind::InvalidStore.code(),
    ErrorKind::InvalidText.code(),
    ErrorKind::NodesExhausted.code(),
    ErrorKind::TimeOverflow.code(),
    ErrorKind::UnsafeStore.code(),
    ErrorKind::WindowClosed.code(),
];

/// The message about a token that is wrong or missing.
pub const TOKEN_REFUSED: &str =
    "it refuses the token, or wants one: pass the token to HttpStore, or set SNOWMINT_TOKEN where the store is a URL";

/// The message about an answer that no service of snowmint gives; `{answer}` is the place of the answer.
pub const NOT_SNOWMINT: &str = "it answers {answer}, as no service of snowmint does: is the URL right?";
