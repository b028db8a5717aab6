//! The parts of a URL, for engines whose client does not read URLs or not all of them.

use std::fs;

use snowmint_core::ErrorKind;

use crate::error::Error;
use crate::store::key;
use crate::store::url::Url;

/// The parts of `scheme://user:password@host:port,host:port/path?ca=FILE`.
#[cfg_attr(
    not(all(feature = "etcd", feature = "nats")),
    allow(dead_code, reason = "each engine reads some of the parts")
)]
pub(in crate::engines) struct Address {
    /// User and password.
    pub(in crate::engines) user: Option<(String, String)>,
    /// At least one host, each with its port.
    pub(in crate::engines) hosts: Vec<String>,
    /// The path with its leading slash, or an empty text.
    pub(in crate::engines) path: String,
    /// Certificates of authorities in PEM, which replace the built-in ones.
    pub(in crate::engines) ca: Option<String>,
    /// For NATS: the addresses where servers report their settings.
    pub(in crate::engines) monitor: Option<String>,
}

impl Address {
    /// Reads a URL. Hosts without a port get `port`.
    pub(in crate::engines) fn of(url: &Url, port: u16) -> Result<Self, Error> {
        let scheme = &url.scheme;
        let wrong = |why: &str| Error::new(ErrorKind::InvalidStore, format!("{scheme}: {why}"));
        let (place, options) = url.rest.split_once('?').unwrap_or((&url.rest, ""));
        let (_, authority) = place
            .split_once("://")
            .ok_or_else(|| wrong(&format!("the URL must have the form {scheme}://HOST:PORT, with two slashes")))?;
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, authority),
        };
        let decoded = |text| {
            key::name(text).ok_or_else(|| wrong("a % in user or password must be followed by two hexadecimal digits"))
        };
        let user = match user.map(|user| user.split_once(':').unwrap_or((user, ""))) {
            Some((name, password)) => Some((decoded(name)?, decoded(password)?)),
            None => None,
        };
        let (hosts, path) = place.find('/').map_or((place, ""), |slash| place.split_at(slash));
        if hosts.split(',').any(|host| host.is_empty() || host.starts_with(':')) {
            return Err(wrong(&format!("name at least one host and no empty one: {scheme}://HOST:PORT,HOST:PORT")));
        }
        let with_port = |host: &str| {
            // The colons of an IPv6 address are in brackets.
            let has_port = host.rsplit_once(']').map_or(host, |(_, after)| after).contains(':');
            if has_port { host.to_owned() } else { format!("{host}:{port}") }
        };
        let (mut ca, mut monitor) = (None, None);
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match name {
                "ca" => {
                    let read = fs::read_to_string(value);
                    ca = Some(read.map_err(|error| wrong(&format!("cannot read ca={value}: {error}")))?);
                }
                // The URL has no other options.
                _ => monitor = Some(value.to_owned()),
            }
        }
        Ok(Self { user, hosts: hosts.split(',').map(with_port).collect(), path: path.to_owned(), ca, monitor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Result<Address, Error> {
        Address::of(&Url::parse(url).expect("a URL"), 2379)
    }

    #[test]
    fn hosts_get_ports_and_passwords_are_decoded() {
        let found = address("etcd://me:a%2Fb%40@h1,h2:1,[::1],[::1]:2/x/y?timeout_ms=50").expect("valid");
        assert_eq!(found.hosts, ["h1:2379", "h2:1", "[::1]:2379", "[::1]:2"]);
        assert_eq!((found.user, found.path.as_str()), (Some(("me".into(), "a/b@".into())), "/x/y"));
        let found = address("nats://h1/ids?monitor=http://h1:8222").expect("valid");
        assert_eq!((found.path.as_str(), found.monitor.as_deref()), ("/ids", Some("http://h1:8222")));
        let found = address("etcd://h1").expect("valid");
        assert!(found.user.is_none() && found.path.is_empty() && found.ca.is_none());
    }

    #[test]
    fn errors_name_the_fault_and_hide_the_password() {
        for (url, named) in [
            ("etcd:h1", "etcd://HOST:PORT"),
            ("etcd://", "at least one host"),
            ("etcd://me:secret@h1,,h2", "no empty one"),
            ("etcd://me:secret@:5", "at least one host"),
            ("etcd://me:secret%@h1", "two hexadecimal digits"),
            ("etcd://me:secret@h1?ca=/nowhere/ca.pem", "cannot read ca=/nowhere/ca.pem"),
        ] {
            let error = address(url).err().expect(url);
            assert_eq!(error.kind(), ErrorKind::InvalidStore);
            assert!(error.to_string().contains(named) && !error.to_string().contains("secret"), "{error}");
        }
    }
}
