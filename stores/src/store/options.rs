//! The options of a store's URL, by engine, and the names that other drivers have for them.

/// The options of snowmint itself, which [`Url`](super::url::Url) explains.
const OWN_OPTIONS: [&str; 6] = ["allow_unsafe", "allow_standby", "create", "timeout_ms", "connections", "prefix"];

/// The options of an engine, and how its URL asks for TLS.
struct Known {
    schemes: &'static [&'static str],
    /// The names that the engine's client reads. Of several names for one option the first one is in messages.
    names: &'static [&'static [&'static str]],
    /// For TLS; for TLS with a check of the server's name.
    tls: Option<(&'static str, &'static str)>,
    /// The file of trusted certificates.
    authority: &'static str,
    /// The file of the client's certificate, and of its key.
    client: Option<(&'static str, &'static str)>,
}

const KNOWN: &[Known] = &[
    Known {
        schemes: &["postgres", "postgresql"],
        names: &[
            &["sslmode", "ssl-mode"],
            &["sslrootcert", "ssl-root-cert", "ssl-ca"],
            &["sslcert", "ssl-cert"],
            &["sslkey", "ssl-key"],
            &["host"],
            &["hostaddr"],
            &["port"],
            &["dbname"],
            &["user"],
            &["password"],
            &["application_name"],
            &["options"],
            &["statement-cache-capacity"],
        ],
        tls: Some(("sslmode=require", "sslmode=verify-full")),
        authority: "sslrootcert",
        client: Some(("sslcert", "sslkey")),
    },
    Known {
        schemes: &["mysql", "mariadb"],
        names: &[
            &["ssl-mode", "sslmode"],
            &["ssl-ca", "sslca"],
            &["ssl-cert", "sslcert"],
            &["ssl-key", "sslkey"],
            &["charset"],
            &["collation"],
            &["socket"],
            &["timezone", "time-zone"],
            &["statement-cache-capacity"],
        ],
        tls: Some(("ssl-mode=REQUIRED", "ssl-mode=VERIFY_IDENTITY")),
        authority: "ssl-ca",
        client: Some(("ssl-cert", "ssl-key")),
    },
    of_scheme(&["redis", "rediss"], &[&["ca"]], "rediss://"),
    of_scheme(&["etcd", "etcds"], &[&["ca"]], "etcds://"),
    of_scheme(&["nats", "natss"], &[&["ca"], &["monitor"]], "natss://"),
    Known {
        schemes: &["sqlite", "file", "memory", "zookeeper", "zookeepers"],
        names: &[],
        tls: None,
        authority: "",
        client: None,
    },
];

const fn of_scheme(
    schemes: &'static [&'static str],
    names: &'static [&'static [&'static str]],
    scheme: &'static str,
) -> Known {
    Known { schemes, names, tls: Some((scheme, scheme)), authority: "ca", client: None }
}

/// Names for TLS in the URLs of other drivers, in lower case without `-` and `_`.
const TLS: [&str; 10] = [
    "ssl",
    "tls",
    "sslmode",
    "tlsmode",
    "sslaccept",
    "sslenabled",
    "usessl",
    "usetls",
    "requiressl",
    "verifyservercertificate",
];
const AUTHORITY: [&str; 9] =
    ["ca", "cafile", "cacert", "sslca", "tlsca", "sslrootcert", "sslcacerts", "tlscafile", "servercertificate"];
const CERTIFICATE: [&str; 5] = ["cert", "sslcert", "sslcertfile", "tlscert", "sslidentity"];
const KEY: [&str; 4] = ["key", "sslkey", "sslkeyfile", "tlskey"];

/// Returns why a URL of this scheme cannot have an option: which one was probably meant, or which ones there are. `None` for
/// an option that exists, and for an unknown scheme.
pub(crate) fn refusal(scheme: &str, name: &str) -> Option<String> {
    let known = KNOWN.iter().find(|known| known.schemes.contains(&scheme))?;
    let names = || known.names.iter().copied().flatten().chain(&OWN_OPTIONS);
    // PostgreSQL has a form for one setting.
    let is_setting = known.names.contains(&&["options"][..]) && name.starts_with("options[");
    if is_setting || names().any(|right| *right == name) {
        return None;
    }
    let plain = plain(name);
    let is = |spellings: &[&str]| spellings.contains(&plain.as_str());
    let meant = match known.tls {
        Some((on, checked)) if is(&TLS) && on == checked => Some(format!("for TLS the URL begins with {on}")),
        Some((on, checked)) if is(&TLS) => {
            Some(format!("for TLS write {on}, or {checked}, which also checks the server's name"))
        }
        Some(_) if is(&AUTHORITY) => Some(format!("for trusted certificates write {}=FILE", known.authority)),
        _ => None,
    };
    let meant = meant.or_else(|| {
        let (certificate, key) = known.client?;
        let right = if is(&CERTIFICATE) { certificate } else { Some(key).filter(|_| is(&KEY))? };
        Some(format!("write {right}=FILE"))
    });
    let meant =
        meant.or_else(|| names().find(|right| self::plain(right) == plain).map(|right| format!("write {right}")));
    let hint = meant.unwrap_or_else(|| {
        let firsts = known.names.iter().map(|names| names[0]);
        format!("the options are {}", firsts.chain(OWN_OPTIONS).collect::<Vec<_>>().join(", "))
    });
    Some(format!("{scheme}: there is no option {name}: {hint}"))
}

/// Returns a name in lower case without `-` and `_`.
fn plain(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '-' | '_')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_other_drivers_name_the_right_one() {
        for (scheme, name, right) in [
            ("postgres", "ssl", "write sslmode=require, or sslmode=verify-full"),
            ("postgresql", "sslMode", "sslmode=verify-full"),
            ("postgres", "tls", "sslmode=require"),
            ("postgres", "sslaccept", "sslmode=require"),
            ("postgres", "ssl_root_cert", "write sslrootcert=FILE"),
            ("postgres", "sslKey", "write sslkey=FILE"),
            ("postgres", "channel_binding", "the options are sslmode, sslrootcert"),
            ("mysql", "ssl", "write ssl-mode=REQUIRED, or ssl-mode=VERIFY_IDENTITY"),
            ("mariadb", "useSSL", "ssl-mode=REQUIRED"),
            ("mysql", "ssl_ca", "write ssl-ca=FILE"),
            ("mysql", "ssl_cert", "write ssl-cert=FILE"),
            ("redis", "ssl", "the URL begins with rediss://"),
            ("redis", "ssl_ca_certs", "write ca=FILE"),
            ("etcd", "tls", "the URL begins with etcds://"),
            ("zookeeper", "ssl", "the options are allow_unsafe"),
            ("nats", "tls", "the URL begins with natss://"),
            ("etcd", "monitor", "the options are ca, allow_unsafe"),
            ("sqlite", "mode", "the options are allow_unsafe"),
            ("file", "ssl", "the options are allow_unsafe"),
            ("memory", "allow-unsafe", "write allow_unsafe"),
            ("postgres", "timeoutMs", "write timeout_ms"),
        ] {
            let refusal = refusal(scheme, name).expect(name);
            assert!(refusal.contains(&format!("no option {name}: ")) && refusal.contains(right), "{refusal}");
        }
        for (scheme, name) in [
            ("postgres", "ssl-mode"),
            ("postgres", "options[search_path]"),
            ("mysql", "sslmode"),
            ("nats", "monitor"),
            ("sqlite", "connections"),
            ("oracle", "ssl"),
        ] {
            assert_eq!(refusal(scheme, name), None, "{scheme} {name}");
        }
    }
}
