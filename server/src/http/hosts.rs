//! The host names that requests without a token may use.
//!
//! The owner of a web page can point the page's host name at this machine (DNS rebinding). The browser then treats this
//! server as the origin of the page and lets the page read answers. But the request still carries that host name.

use std::net::IpAddr;

use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue};

use crate::auth::Token;

/// The allowed names, or `None` for a server with a token: such a page does not know the token.
#[derive(Clone, Debug)]
pub struct Hosts(Option<Vec<String>>);

impl Hosts {
    /// Returns the names of `--allow-host` and the name in `--http`.
    pub fn new(token: &Token, listens_at: &str, allowed: &[String]) -> Self {
        if token.is_set() {
            return Self(None);
        }
        let own = host(listens_at.as_bytes());
        Self(Some(allowed.iter().cloned().chain(own).collect()))
    }

    /// Returns the first host name of a request that is not allowed. A request without a name, as in HTTP/1.0, passes: no
    /// browser sends it.
    pub fn stranger<'a>(&self, headers: &'a HeaderMap) -> Option<&'a HeaderValue> {
        let names = self.0.as_ref()?;
        headers
            .get_all(HOST)
            .into_iter()
            .find(|value| !host(value.as_bytes()).is_some_and(|name| is_loopback(&name) || names.contains(&name)))
    }
}

/// Reads one name of `--allow-host`.
pub fn allowed(text: &str) -> Result<String, String> {
    let bare = Authority::try_from(text).is_ok_and(|authority| authority.port().is_none() && !text.contains('@'));
    host(text.as_bytes())
        .filter(|_| bare)
        .ok_or_else(|| "write a host name or an address without scheme, port or path, such as ids.example".to_owned())
}

/// Returns the host of an authority without the port, in lower case.
fn host(authority: &[u8]) -> Option<String> {
    let authority = Authority::try_from(authority).ok()?;
    let name = authority.host().to_ascii_lowercase();
    // A name may end with the dot of the DNS root.
    Some(name.strip_suffix('.').unwrap_or(&name).to_owned()).filter(|name| !name.is_empty())
}

fn is_loopback(name: &str) -> bool {
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(hosts: &Hosts, names: &[&str]) -> bool {
        let headers = names.iter().map(|name| (HOST, HeaderValue::from_str(name).expect("a value")));
        hosts.stranger(&headers.collect()).is_none()
    }

    #[test]
    fn only_loopback_and_allowed_names_pass() {
        let none = Token::read(None).expect("none");
        let hosts = Hosts::new(&none, "box.local:8080", &[allowed("IDs.example").expect("a name")]);
        for name in [
            "localhost",
            "LOCALHOST:8080",
            "localhost.",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]:8080",
            "[::ffff:127.0.0.1]",
            "ids.example:80",
            "Box.local",
        ] {
            assert!(is_allowed(&hosts, &[name]), "{name}");
        }
        for name in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "0.0.0.0",
            "[::2]",
            "::1",
            "ids.example.evil",
            "localhost:x:y",
            "a b",
        ] {
            assert!(!is_allowed(&hosts, &[name]), "{name}");
        }
        assert!(is_allowed(&hosts, &[]));
        assert!(!is_allowed(&hosts, &["localhost", "evil.example"]));
    }

    #[test]
    fn an_allowed_host_is_a_bare_name() {
        for bad in ["", "http://a", "a:80", "a/b", "a b", "user@a"] {
            assert!(allowed(bad).is_err(), "{bad}");
        }
        assert_eq!(allowed("[::1]").as_deref(), Ok("[::1]"));
    }
}
