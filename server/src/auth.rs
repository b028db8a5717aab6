//! The roles of clients, and what each of them may do.

mod tokens;

use std::sync::Arc;

use axum::http::Method;

pub use self::tokens::Tokens;

/// The rights of a client. Each role has the rights of the roles before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Read metrics and status.
    Metrics,
    /// Take IDs and numbers, and lease nodes.
    Mint,
    /// Set and delete keys, define and set sequences, define formatted numbers, and make namespaces.
    /// Operators raise a fence, which stops all minting, only by a verb, never by a request.
    Admin,
}

impl Role {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Metrics => "metrics",
            Self::Mint => "mint",
            Self::Admin => "admin",
        }
    }

    /// Returns the flag with the file of tokens for this role.
    pub const fn flag(self) -> &'static str {
        match self {
            Self::Metrics => "--metrics-token-file",
            Self::Mint => "--token-file",
            Self::Admin => "--admin-token-file",
        }
    }
}

/// The sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    pub role: Role,
    /// The name of its token. `None` on a server without tokens.
    pub token: Option<Arc<str>>,
}

impl Client {
    /// The client of a server without tokens.
    pub(crate) const ANYBODY: Self = Self { role: Role::Admin, token: None };
}

/// The route of a request for a path that the server does not have.
pub const NO_ROUTE: &str = "none";

/// Returns the role that a request to an HTTP route needs. `None` for routes that need no token. A claim of a node
/// in a new namespace needs [`Role::Admin`] besides.
pub fn role_of_route(method: &Method, route: &str) -> Option<Role> {
    match route {
        "/" | "/healthz" | "/readyz" => None,
        "/metrics" | "/v1/status" | "/openapi.json" | NO_ROUTE => Some(Role::Metrics),
        // A definition is for good, and a set may lead back to numbers that were given.
        "/v1/sequences/{name}" if matches!(*method, Method::POST | Method::PUT) => Some(Role::Admin),
        "/v1/sequences/{name}/set" | "/v1/formatted/{name}" => Some(Role::Admin),
        _ => Some(Role::Mint),
    }
}

/// Returns the role that a command of the Redis protocol needs, by its name in upper case.
pub fn role_of_command(name: &[u8]) -> Role {
    match name {
        b"SET" | b"DEL" | b"UNLINK" => Role::Admin,
        b"GET" | b"INCR" | b"INCRBY" | b"EXISTS" => Role::Mint,
        _ => Role::Metrics,
    }
}
