//! Connection URLs: an engine, what its client needs, and options of ours.

use std::time::Duration;

use snowmint_core::ErrorKind;

use crate::error::Error;

/// A URL of a store.
///
/// Of the options after `?`, these are of this crate, and the others are the engine's, such as `sslmode` of `PostgreSQL`:
///
/// | option | means | by default |
/// | --- | --- | --- |
/// | `allow_unsafe` | `true`: settings under which confirmed writes can be lost are accepted | `false` |
/// | `allow_standby` | `true`: claims accept a standby or replica that is not waited for, as a fence follows every failover | `false` |
/// | `create` | `false`: tables that are missing are an error, not made | `true` |
/// | `timeout_ms` | how long to wait for a connection and for each answer | 5000 |
/// | `connections` | how many connections at most, where a client has several | 4 |
/// | `ca` | a file of certificates in PEM to trust, where TLS is asked for by the scheme (`rediss`, `etcds`, `zookeepers`) | |
/// | `prefix` | what keys begin with, where there are no tables: 1 to 64 of `a-z A-Z 0-9 . _ -` | `snowmint` |
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    /// The engine: `postgres`, `mysql`, `redis`, ...
    pub scheme: String,
    /// The URL without our options.
    pub rest: String,
    /// Whether settings that can lose confirmed writes are accepted.
    pub allow_unsafe: bool,
    /// Whether claims accept settings by which a failover can lose confirmed writes.
    pub allow_standby: bool,
    /// Whether missing tables are made.
    pub create: bool,
    /// How long to wait for a connection and for each answer.
    pub timeout: Duration,
    /// How many connections at most.
    pub connections: u32,
    /// What keys begin with.
    pub prefix: String,
}

impl Url {
    /// Reads a URL.
    ///
    /// # Errors
    /// `StoreUnavailable`, if it has no scheme, or an option of ours has a value that it cannot have. The message does not
    /// show a password.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refused = |why: String| Error::told(ErrorKind::StoreUnavailable, why);
        let (scheme, after) = text.split_once(':').filter(|(scheme, _)| !scheme.is_empty()).ok_or_else(|| {
            refused(
                "a store is given by a URL, such as postgres://user@host/database, sqlite:PATH or file:DIRECTORY"
                    .into(),
            )
        })?;
        if after.split_once('?').is_some_and(|(_, options)| options.contains('@')) {
            return Err(refused(
                "a ? or @ in the user or password of a store's URL is to be written as %3F or %40".into(),
            ));
        }
        let mut url = Self {
            scheme: scheme.to_ascii_lowercase(),
            rest: String::new(),
            allow_unsafe: false,
            allow_standby: false,
            create: true,
            timeout: Duration::from_secs(5),
            connections: 4,
            prefix: "snowmint".to_owned(),
        };
        let (place, options) = after.split_once('?').map_or((after, None), |(place, options)| (place, Some(options)));
        let mut others = Vec::new();
        for option in options.into_iter().flat_map(|options| options.split('&')).filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let wrong = |right: &str| refused(format!("{name} of a store is {right}, not {value:?}"));
            match name {
                "allow_unsafe" => url.allow_unsafe = value.parse().map_err(|_| wrong("true or false"))?,
                "allow_standby" => url.allow_standby = value.parse().map_err(|_| wrong("true or false"))?,
                "create" => url.create = value.parse().map_err(|_| wrong("true or false"))?,
                "timeout_ms" => {
                    let fits = |ms: &u64| (10..=600_000).contains(ms);
                    let ms = value.parse().ok().filter(fits).ok_or_else(|| wrong("10 to 600000 ms"))?;
                    url.timeout = Duration::from_millis(ms);
                }
                "connections" => {
                    let fits = |count: &u32| (1..=1000).contains(count);
                    url.connections = value.parse().ok().filter(fits).ok_or_else(|| wrong("1 to 1000"))?;
                }
                "prefix" => {
                    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
                    let fits = (1..=64).contains(&value.len()) && value.bytes().all(plain) && !value.starts_with('.');
                    if !fits {
                        return Err(wrong("1 to 64 of a-z A-Z 0-9 . _ - without a dot in front"));
                    }
                    value.clone_into(&mut url.prefix);
                }
                _ => others.push(option),
            }
        }
        url.rest = format!("{}:{place}", url.scheme);
        if !others.is_empty() {
            url.rest.push('?');
            url.rest.push_str(&others.join("&"));
        }
        Ok(url)
    }

    /// Host and port, or path, without user and password; for sentences.
    pub fn place(&self) -> &str {
        let after = self.rest.split_once(':').map_or("", |(_, after)| after);
        let after = after.split_once('?').map_or(after, |(place, _)| place);
        match after.strip_prefix("//") {
            Some(authority) => authority.rsplit_once('@').map_or(authority, |(_, place)| place),
            // Without slashes it is no URL of a server, but perhaps somebody's mistake with a password in it.
            None => after.rsplit_once('@').map_or(after, |(_, place)| place),
        }
    }
}

// A password is in it.
impl std::fmt::Debug for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Url({} at {})", self.scheme, self.place())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_options_are_taken_out_and_the_others_stay() {
        let url = Url::parse(
            "postgres://me:secret@db:5432/app?sslmode=require&allow_unsafe=true&allow_standby=true&timeout_ms=250&create=false",
        )
        .expect("valid");
        assert_eq!(url.rest, "postgres://me:secret@db:5432/app?sslmode=require");
        assert!(url.allow_unsafe && url.allow_standby && !url.create);
        assert_eq!((url.timeout, url.connections), (Duration::from_millis(250), 4));
        assert_eq!(url.place(), "db:5432/app");
        assert_eq!(format!("{url:?}"), "Url(postgres at db:5432/app)");
        let url = Url::parse("sqlite:/var/lib/ids.db?connections=2&prefix=ids").expect("valid");
        assert_eq!((url.rest.as_str(), url.connections, url.prefix.as_str()), ("sqlite:/var/lib/ids.db", 2, "ids"));
        assert_eq!(url.place(), "/var/lib/ids.db");
    }

    #[test]
    fn what_an_option_cannot_be_is_refused_without_a_password() {
        for text in [
            "db",
            ":x",
            "redis://me:secret@db?allow_unsafe=yes",
            "redis://me:secret@db?timeout_ms=0",
            "redis://me:secret@db?connections=0",
            "redis://me:secret@db?prefix=a/b",
            "redis://me:sec?secret@db",
        ] {
            let error = Url::parse(text).expect_err(text);
            assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
