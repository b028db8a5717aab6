//! Errors of engines by which a store cannot work as it is configured.

use super::Engine;

/// Codes of `PostgreSQL`: no such role, a wrong password or host, no such database, schema or table, an object of another
/// kind, no permission.
const POSTGRES: &[&str] = &["28000", "28P01", "3D000", "3F000", "42501", "42809", "42P01"];
/// Codes of `MySQL` and `MariaDB`: no such user or a wrong password, no such database or table, no permission, an unknown plugin.
const MYSQL: &[&str] = &["1044", "1045", "1049", "1142", "1143", "1146", "1251", "1524", "1698"];
/// Names of errors of `DynamoDB` and of its clients: no credentials, wrong ones, no permission, no region.
const DYNAMODB: &[&str] = &[
    "AccessDeniedException",
    "CredentialsProviderError",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "NoCredentialsError",
    "NoRegionError",
    "PartialCredentialsError",
    "UnrecognizedClientException",
];

/// The codes that mean a missing right, and what to do about it.
const POSTGRES_RIGHTS: (&[&str], &str) = (
    &["42501"],
    ": grant this role USAGE on the schema, CREATE on it for the first start, and SELECT, INSERT and UPDATE on the tables",
);
const MYSQL_RIGHTS: (&[&str], &str) = (
    &["1044", "1142", "1143"],
    ": grant this user SELECT, INSERT and UPDATE on the database, and CREATE for the first start",
);
const REDIS_RIGHTS: (&[&str], &str) = (
    &["NOPERM", "no permissions to "],
    ": allow this user the keys of the store, and EVAL, TIME, INFO, CONFIG GET, EXISTS, GET, SET, INCRBY, HGET, HSET and HGETALL",
);

/// Parts of messages, for clients that give no code. A message has all texts of a row.
const POSTGRES_SAYS: &[&[&str]] = &[
    &["password authentication failed"],
    &["no password supplied"],
    &["no pg_hba.conf entry"],
    &["role \"", "\" does not exist"],
    &["database \"", "\" does not exist"],
];
const REDIS_SAYS: &[&[&str]] = &[
    &["WRONGPASS"],
    &["NOAUTH"],
    &["NOPERM"],
    &["no permissions to "],
    &["Password authentication failed"],
    &["Authentication required"],
    &["invalid username-password pair"],
    &["without any password configured"],
    &["DB index is out of range"],
];
const SQLITE_SAYS: &[&[&str]] =
    &[&["unable to open database file"], &["file is not a database"], &["attempt to write a readonly database"]];

impl Engine {
    /// Returns `None` unless an error of the engine means that the store cannot work as it is configured: it has no such user or
    /// database, or refuses the permission. Then waiting does not help.
    ///
    /// Returns what to write behind the message of the engine: the rights that are needed if one is missing, otherwise nothing.
    ///
    /// | engine | `code` |
    /// | --- | --- |
    /// | `PostgreSQL` | the `SQLSTATE`, or an empty text if the client gives none |
    /// | `MySQL` | the number of the error |
    /// | `DynamoDB` | the name of the error |
    /// | others | not read |
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::Engine;
    /// assert_eq!(Engine::Postgres.misconfigured("3D000", "database \"ids\" does not exist"), Some(""));
    /// assert_eq!(Engine::Postgres.misconfigured("53300", "too many clients already"), None);
    /// let rights = Engine::Postgres.misconfigured("42501", "permission denied for schema public");
    /// assert!(rights.is_some_and(|rights| rights.contains("grant this role USAGE on the schema")));
    /// ```
    pub fn misconfigured(self, code: &str, message: &str) -> Option<&'static str> {
        let (codes, says): (&[&str], &[&[&str]]) = match self {
            Self::Postgres => (POSTGRES, if code.is_empty() { POSTGRES_SAYS } else { &[] }),
            Self::Mysql => (MYSQL, &[]),
            Self::Redis => (&[], REDIS_SAYS),
            Self::Sqlite => (&[], SQLITE_SAYS),
            Self::Dynamodb => (DYNAMODB, &[]),
            Self::Nats => (&[], &[]),
        };
        if !codes.contains(&code) && !says.iter().any(|parts| parts.iter().all(|part| message.contains(part))) {
            return None;
        }
        let says_right = |(marks, cure): (&[&str], &'static str)| {
            marks.iter().any(|mark| *mark == code || code.is_empty() && message.contains(mark)).then_some(cure)
        };
        let rights = match self {
            Self::Postgres => says_right(POSTGRES_RIGHTS),
            Self::Mysql => says_right(MYSQL_RIGHTS),
            Self::Redis => says_right(REDIS_RIGHTS),
            Self::Sqlite | Self::Dynamodb | Self::Nats => None,
        };
        Some(rights.unwrap_or_default())
    }

    /// Returns whether an error with this code says that a sequence of the database has no more numbers.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::Engine;
    /// assert!(Engine::Postgres.is_run_out("2200H") && Engine::Mysql.is_run_out("4084"));
    /// ```
    pub fn is_run_out(self, code: &str) -> bool {
        matches!((self, code), (Self::Postgres, "2200H") | (Self::Mysql, "4084"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_busy_or_starts_is_not_misconfigured() {
        for (engine, code, message) in [
            (Engine::Postgres, "57P03", "the database system is starting up"),
            (Engine::Postgres, "", "FATAL:  sorry, too many clients already"),
            (Engine::Postgres, "", "FATAL:  database \"ids\" is not currently accepting connections"),
            (Engine::Mysql, "1040", "Too many connections"),
            (Engine::Redis, "", "LOADING Redis is loading the dataset in memory"),
            (Engine::Redis, "", "ERR max number of clients reached"),
            (Engine::Sqlite, "5", "database is locked"),
            (Engine::Dynamodb, "ThrottlingException", "Rate exceeded"),
        ] {
            assert_eq!(engine.misconfigured(code, message), None, "{message}");
        }
    }

    #[test]
    fn a_missing_right_is_told_with_the_rights_that_are_needed() {
        for (engine, code, message) in [
            (Engine::Postgres, "42501", "permission denied for schema public"),
            (Engine::Mysql, "1142", "INSERT command denied to user"),
            (Engine::Redis, "", "NOPERM User ids has no permissions to run the 'eval' command"),
        ] {
            assert!(engine.misconfigured(code, message).is_some_and(|cure| cure.starts_with(": ")), "{message}");
        }
        assert_eq!(Engine::Redis.misconfigured("", "WRONGPASS invalid username-password pair"), Some(""));
    }

    #[test]
    fn a_client_without_codes_is_understood_by_its_message() {
        let says = "connection failed: FATAL:  role \"nobody\" does not exist";
        assert_eq!(Engine::Postgres.misconfigured("", says), Some(""));
        // With a code the message is not read: it may be in any language.
        assert_eq!(Engine::Postgres.misconfigured("57P03", says), None);
    }
}
