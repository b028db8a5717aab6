//! The host names of requests: one name, well formed (RFC 9112, section 3.2), and without a token one that is allowed.
//!
//! The owner of a web page can point the page's host name at this machine (DNS rebinding). The browser then treats this
//! server as the origin of the page and lets the page read answers. But the request still carries that host name.

use std::net::IpAddr;

use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, Version};

use crate::auth::Tokens;

/// The allowed names, or `None` for a server with a token: such a page does not know the token.
#[derive(Clone, Debug)]
pub struct Hosts(Option<Vec<String>>);

impl Hosts {
    /// Returns the names of `--allow-host` and the name in `--http`.
    pub fn new(tokens: &Tokens, listens_at: &str, allowed: &[String]) -> Self {
        if tokens.are_set() {
            return Self(None);
        }
        let own = host(listens_at.as_bytes());
        Self(Some(allowed.iter().cloned().chain(own).collect()))
    }

    /// Checks the header `Host`, and the host in the target of a request to a proxy. HTTP/1.0 needs none: no browser sends it.
    ///
    /// # Errors
    /// The request is malformed, or its host name is not allowed.
    pub fn check(&self, version: Version, target: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let mut given = headers.get_all(HOST).into_iter();
        let host = given.next().map(|host| String::from_utf8_lossy(host.as_bytes()));
        if given.next().is_some() {
            return Err(Refused::Malformed("a request has one header Host"));
        }
        if host.is_none() && version == Version::HTTP_11 {
            return Err(Refused::Malformed("a request of HTTP/1.1 has a header Host"));
        }
        for host in target.authority().map(Authority::as_str).into_iter().chain(host.as_deref()) {
            // A host may be empty (RFC 9110, section 7.2).
            if host.contains('@') || !(host.is_empty() || Authority::try_from(host).is_ok()) {
                return Err(Refused::Malformed("the host of a request is a name or an address with an optional port"));
            }
            if self.0.as_ref().is_some_and(|names| !is_allowed(host, names)) {
                return Err(Refused::Strange(host.to_owned()));
            }
        }
        Ok(())
    }
}

/// Why a request is refused for its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// With or without a token.
    Malformed(&'static str),
    /// The name is not allowed without a token.
    Strange(String),
}

fn is_allowed(authority: &str, names: &[String]) -> bool {
    host(authority.as_bytes()).is_some_and(|name| is_loopback(&name) || names.contains(&name))
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
    use axum::http::HeaderValue;

    use super::*;

    fn check(hosts: &Hosts, version: Version, target: &str, names: &[&str]) -> Result<(), Refused> {
        let headers = names.iter().map(|name| (HOST, HeaderValue::from_str(name).expect("a value")));
        hosts.check(version, &target.parse().expect("a target"), &headers.collect())
    }

    fn is_allowed(hosts: &Hosts, names: &[&str]) -> bool {
        check(hosts, Version::HTTP_11, "/v1/ids", names).is_ok()
    }

    #[test]
    fn only_loopback_and_allowed_names_pass() {
        let none = Tokens::default();
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
        for target in ["http://localhost:8080/v1/ids", "http://ids.example/", "ids.example:80"] {
            assert_eq!(check(&hosts, Version::HTTP_11, target, &["localhost"]), Ok(()), "{target}");
        }
        for target in ["http://evil.example/v1/ids", "evil.example:80"] {
            let refused = check(&hosts, Version::HTTP_11, target, &["localhost"]);
            assert!(
                matches!(&refused, Err(Refused::Strange(name)) if name.starts_with("evil")),
                "{target}: {refused:?}"
            );
        }
        assert_eq!(check(&hosts, Version::HTTP_10, "/", &[]), Ok(()));
    }

    #[test]
    fn a_malformed_host_is_refused_with_or_without_a_token() {
        let none = Tokens::default();
        for hosts in [Hosts::new(&none, "localhost:8080", &[]), Hosts(None)] {
            for names in [
                &[][..],
                &["localhost", "localhost"],
                &["localhost", "evil.example"],
                &["user@localhost"],
                &["localhost@evil.example"],
                &["a b"],
                &["localhost/"],
            ] {
                let refused = check(&hosts, Version::HTTP_11, "/v1/ids", names);
                assert!(matches!(refused, Err(Refused::Malformed(_))), "{names:?}: {refused:?}");
            }
            let target = check(&hosts, Version::HTTP_11, "http://user@localhost/v1/ids", &["localhost"]);
            assert!(matches!(target, Err(Refused::Malformed(_))), "{target:?}");
        }
        assert_eq!(check(&Hosts(None), Version::HTTP_11, "/", &[""]), Ok(()));
    }

    #[test]
    fn an_allowed_host_is_a_bare_name() {
        for bad in ["", "http://a", "a:80", "a/b", "a b", "user@a"] {
            assert!(allowed(bad).is_err(), "{bad}");
        }
        assert_eq!(allowed("[::1]").as_deref(), Ok("[::1]"));
    }
}
