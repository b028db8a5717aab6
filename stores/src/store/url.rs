//! Connection URLs: an engine, the options of its client, and snowmint's options.

use std::time::Duration;

use snowmint_core::ErrorKind;

use super::options;
use crate::error::Error;

/// A URL of a store.
///
/// snowmint reads the options below after `?`. Options of the engine's client stay in the URL, such as `sslmode` of
/// `PostgreSQL`. An option that neither knows is refused, so that none is dropped without a word: `?ssl=true` is not TLS.
///
/// | option | meaning | default |
/// | --- | --- | --- |
/// | `allow_unsafe` | `true` accepts settings that can lose confirmed writes | `false` |
/// | `allow_standby` | `true` lets claims accept an asynchronous standby, as a fence follows every failover | `false` |
/// | `create` | `false` makes a missing table an error | `true` |
/// | `timeout_ms` | time limit for a connection and for each answer, 10 to 600000 ms | 5000 |
/// | `connections` | most connections of an SQL store, 1 to 1000 | 4, for `SQLite` 1 |
/// | `ca` | file of trusted certificates in PEM, for `rediss`, `etcds` and `natss` | |
/// | `monitor` | for NATS: the monitoring address of each server, such as `http://HOST:8222,http://HOST:8222` | port 8222 of each host |
/// | `prefix` | start of all keys, for engines without tables: 1 to 64 of `a-z A-Z 0-9 . _ -` | `snowmint` |
///
/// # Examples
/// ```
/// use snowmint_stores::Url;
/// let url = Url::parse("postgres://me:secret@db:5432/app?sslmode=require&timeout_ms=250")?;
/// assert_eq!((url.scheme.as_str(), url.timeout.as_millis()), ("postgres", 250));
/// assert_eq!(url.rest, "postgres://me:secret@db:5432/app?sslmode=require");
/// # Ok::<(), snowmint_stores::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Url {
    /// The engine: `postgres`, `mysql`, `redis`, ...
    pub scheme: String,
    /// The URL without snowmint's options.
    pub rest: String,
    /// Whether to accept settings that can lose confirmed writes.
    pub allow_unsafe: bool,
    /// Whether claims accept settings that can lose confirmed writes in a failover.
    pub allow_standby: bool,
    /// Whether to make missing tables.
    pub create: bool,
    /// Time limit for a connection and for each answer.
    pub timeout: Duration,
    /// The most connections, if the URL names them.
    pub connections: Option<u32>,
    /// The start of all keys.
    pub prefix: String,
}

/// The start of all keys, if the URL names none.
const DEFAULT_PREFIX: &str = "snowmint";

impl Url {
    const MIN_TIMEOUT: Duration = Duration::from_millis(10);
    pub(crate) const MAX_TIMEOUT: Duration = Duration::from_secs(600);

    /// Reads a URL.
    ///
    /// # Errors
    /// `InvalidStore` for a URL without a scheme, an unknown option, and a wrong value of an option above. The message never
    /// shows a password.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Url;
    /// assert_eq!(Url::parse("sqlite:/var/lib/ids.db?connections=2")?.connections, Some(2));
    /// let error = Url::parse("redis://:secret@cache?ssl=true").expect_err("no such option");
    /// assert_eq!(error.to_string(), "redis: there is no option ssl: for TLS the URL begins with rediss://");
    /// # Ok::<(), snowmint_stores::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refused = |why: String| Error::new(ErrorKind::InvalidStore, why);
        let (scheme, after) = text.split_once(':').filter(|(scheme, _)| !scheme.is_empty()).ok_or_else(|| {
            refused("a store needs a URL, such as postgres://user@host/database, sqlite:PATH or file:DIRECTORY".into())
        })?;
        if after.split_once('?').is_some_and(|(_, options)| options.contains('@')) {
            return Err(refused("write a ? or @ in the user or password of a store's URL as %3F or %40".into()));
        }
        let mut url = Self {
            scheme: scheme.to_ascii_lowercase(),
            rest: String::new(),
            allow_unsafe: false,
            allow_standby: false,
            create: true,
            timeout: Duration::from_secs(5),
            connections: None,
            prefix: DEFAULT_PREFIX.to_owned(),
        };
        let (place, options) = after.split_once('?').map_or((after, None), |(place, options)| (place, Some(options)));
        let mut others = Vec::new();
        for option in options.into_iter().flat_map(|options| options.split('&')).filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let wrong = |right: &str| refused(format!("the option {name} of a store must be {right}, not {value:?}"));
            match name {
                "allow_unsafe" => url.allow_unsafe = value.parse().map_err(|_| wrong("true or false"))?,
                "allow_standby" => url.allow_standby = value.parse().map_err(|_| wrong("true or false"))?,
                "create" => url.create = value.parse().map_err(|_| wrong("true or false"))?,
                "timeout_ms" => {
                    let limit = value.parse().ok().map(Duration::from_millis);
                    let fits = |limit: &Duration| (Self::MIN_TIMEOUT..=Self::MAX_TIMEOUT).contains(limit);
                    url.timeout = limit.filter(fits).ok_or_else(|| wrong("10 to 600000 ms"))?;
                }
                "connections" => {
                    let fits = |count: &u32| (1..=1000).contains(count);
                    url.connections = Some(value.parse().ok().filter(fits).ok_or_else(|| wrong("1 to 1000"))?);
                }
                "prefix" => {
                    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
                    let fits = (1..=64).contains(&value.len()) && value.bytes().all(plain) && !value.starts_with('.');
                    if !fits {
                        return Err(wrong("1 to 64 of a-z A-Z 0-9 . _ - without a dot in front"));
                    }
                    value.clone_into(&mut url.prefix);
                }
                _ => match options::refusal(&url.scheme, name) {
                    Some(refusal) => return Err(refused(refusal)),
                    None => others.push(option),
                },
            }
        }
        url.rest = format!("{}:{place}", url.scheme);
        if !others.is_empty() {
            url.rest.push('?');
            url.rest.push_str(&others.join("&"));
        }
        Ok(url)
    }

    /// Returns host and port, or the path, for messages. User and password are left out.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Url;
    /// assert_eq!(Url::parse("postgres://me:secret@db:5432/app")?.place(), "db:5432/app");
    /// # Ok::<(), snowmint_stores::Error>(())
    /// ```
    pub fn place(&self) -> &str {
        let after = self.rest.split_once(':').map_or("", |(_, after)| after);
        let after = after.split_once('?').map_or(after, |(place, _)| place);
        match after.strip_prefix("//") {
            Some(authority) => authority.rsplit_once('@').map_or(authority, |(_, place)| place),
            // A URL without slashes names no server, but may contain a password by mistake.
            None => after.rsplit_once('@').map_or(after, |(_, place)| place),
        }
    }

    /// Returns the user of the server, without the password; empty without one.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Url;
    /// assert_eq!(Url::parse("postgres://me:secret@db:5432/app")?.user(), "me");
    /// assert_eq!(Url::parse("postgres://db/app")?.user(), "");
    /// # Ok::<(), snowmint_stores::Error>(())
    /// ```
    pub fn user(&self) -> &str {
        let authority = self.rest.split_once("://").map_or("", |(_, after)| after);
        let authority = authority.split_once('?').map_or(authority, |(authority, _)| authority);
        let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
        user.split_once(':').map_or(user, |(user, _)| user)
    }

    /// Returns the name of a store whose keys have the prefix: engine and address, and the prefix if it is not the default.
    #[cfg(any(feature = "etcd", feature = "nats", feature = "redis", feature = "zookeeper"))]
    pub(crate) fn named(&self, engine: &str) -> String {
        let place = self.place();
        if self.prefix == DEFAULT_PREFIX {
            format!("{engine} at {place}")
        } else {
            format!("{engine} at {place} with prefix {}", self.prefix)
        }
    }

    /// Returns the engine and its address, for messages.
    ///
    /// # Errors
    /// `InvalidStore` for a URL that does not have the form of a server's. The message hides the URL, as a password may
    /// be in the wrong place.
    #[cfg(any(feature = "mysql", feature = "postgres"))]
    pub(crate) fn server(&self, engine: &str) -> Result<String, Error> {
        let place = self.place();
        let authority = place.split('/').next().unwrap_or_default();
        let port =
            authority.rsplit_once(']').map_or(authority, |(_, after)| after).split_once(':').map(|(_, port)| port);
        let is_number = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        if self.rest.contains("://") && port.is_none_or(is_number) {
            return Ok(format!("{engine} at {place}"));
        }
        let right = format!("its URL is {}://USER:PASSWORD@HOST:PORT/DATABASE", self.scheme);
        Err(Error::invalid_store(engine, format_args!("{right}, where ? / # @ in a password are %3F %2F %23 %40")))
    }
}

// Hides the password.
impl std::fmt::Debug for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Url({} at {})", self.scheme, self.place())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snowmint_options_are_removed_and_the_others_stay() {
        let url = Url::parse(
            "postgres://me:secret@db:5432/app?sslmode=require&allow_unsafe=true&allow_standby=true&timeout_ms=250&create=false",
        )
        .expect("valid");
        assert_eq!(url.rest, "postgres://me:secret@db:5432/app?sslmode=require");
        assert!(url.allow_unsafe && url.allow_standby && !url.create);
        assert_eq!((url.timeout, url.connections), (Duration::from_millis(250), None));
        assert_eq!(url.place(), "db:5432/app");
        assert_eq!(format!("{url:?}"), "Url(postgres at db:5432/app)");
        let url = Url::parse("sqlite:/var/lib/ids.db?connections=2&prefix=ids").expect("valid");
        assert_eq!(
            (url.rest.as_str(), url.connections, url.prefix.as_str()),
            ("sqlite:/var/lib/ids.db", Some(2), "ids")
        );
        assert_eq!(url.place(), "/var/lib/ids.db");
    }

    #[test]
    fn wrong_options_are_refused_without_showing_the_password() {
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
            assert_eq!(error.kind(), ErrorKind::InvalidStore);
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
