//! Errors of engines that mean: the configuration of the store is wrong.

use super::Engine;

/// Errors that mean the same to a user.
struct Cause {
    /// The codes.
    codes: &'static [&'static str],
    /// Parts of messages, for clients that give no code. A message has all texts of a row.
    says: &'static [&'static [&'static str]],
    /// What to write behind the message of the engine.
    cure: &'static str,
}

const POSTGRES: &[Cause] = &[
    Cause {
        codes: &["42501"],
        says: &[&["permission denied for "]],
        cure: ": grant this role USAGE on the schema snowmint, and SELECT, INSERT and UPDATE on its tables; for the first start \
               CREATE on the database; for segments SELECT, INSERT and UPDATE on leaf_alloc",
    },
    // A function or type that servers of this protocol may lack.
    Cause { codes: &["42704", "42883"], says: &[], cure: ": use PostgreSQL, or a server that has it too" },
    // No such table.
    Cause {
        codes: &["42P01"],
        says: &[&["relation \"", "\" does not exist"]],
        cure: ": if it is in another schema, add that schema to the search_path of this role",
    },
    // No such role, a wrong password, host or option, no such database or schema, an object of another kind.
    Cause {
        codes: &["28000", "28P01", "3D000", "3F000", "42809"],
        says: &[
            &["password authentication failed"],
            &["no password supplied"],
            &["no pg_hba.conf entry"],
            &["role \"", "\" does not exist"],
            &["database \"", "\" does not exist"],
            &["invalid connection option"],
        ],
        cure: "",
    },
];
const MYSQL: &[Cause] = &[
    Cause {
        codes: &["1044", "1142", "1143"],
        says: &[],
        cure: ": grant this user SELECT, INSERT and UPDATE on the database, and CREATE for the first start",
    },
    // No such user or a wrong password, no such database or table, an unknown plugin.
    Cause { codes: &["1045", "1049", "1146", "1251", "1524", "1698"], says: &[], cure: "" },
];
const REDIS: &[Cause] = &[
    Cause {
        codes: &[],
        says: &[&["NOPERM"], &["no permissions to "]],
        cure: ": allow this user the keys of the store, and EVAL, TIME, INFO, CONFIG GET, EXISTS, GET, SET, INCRBY, HGET, HSET and HGETALL",
    },
    Cause {
        codes: &[],
        says: &[
            &["WRONGPASS"],
            &["NOAUTH"],
            &["Password authentication failed"],
            &["Authentication required"],
            &["invalid username-password pair"],
            &["without any password configured"],
            &["DB index is out of range"],
        ],
        cure: "",
    },
];
const SQLITE: &[Cause] = &[Cause {
    codes: &[],
    says: &[&["unable to open database file"], &["file is not a database"], &["attempt to write a readonly database"]],
    cure: "",
}];
/// Names of errors of `DynamoDB` and of its clients: no credentials, wrong ones, no permission, no region.
const DYNAMODB: &[Cause] = &[Cause {
    codes: &[
        "AccessDeniedException",
        "CredentialsProviderError",
        "InvalidSignatureException",
        "MissingAuthenticationTokenException",
        "NoCredentialsError",
        "NoRegionError",
        "PartialCredentialsError",
        "UnrecognizedClientException",
    ],
    says: &[],
    cure: "",
}];

/// The meaning of a server's error for the statement that failed. The statement had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The server undid the whole transaction, as after a deadlock, so it can be repeated.
    Undone,
    /// As `Undone`, after a long wait for a lock.
    Locked,
    /// There is a row, or a table, of that name.
    Duplicate,
    /// A number would be beyond 2^63-1.
    Beyond,
    /// A sequence has no more numbers.
    RunOut,
    /// Another error.
    Other,
}

impl Denial {
    /// Returns whether the server undid the whole transaction, so that it can be repeated.
    pub fn is_undone(self) -> bool {
        matches!(self, Self::Undone | Self::Locked)
    }

    /// Returns whether another session was faster when tables are made: they may be there now. `IF NOT EXISTS` does not see a
    /// table that another open transaction makes.
    pub fn is_overtaken(self) -> bool {
        matches!(self, Self::Undone | Self::Duplicate)
    }
}

impl Engine {
    /// Returns the advice to write behind the engine's message, if the error means that the configuration is wrong: the
    /// engine has no such user or database, or the user lacks a permission. Waiting does not help then.
    ///
    /// The advice names the rights that the store needs if a permission is missing; it is mostly empty otherwise.
    /// `None` for all other errors.
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
    /// let rights = Engine::Postgres.misconfigured("42501", "permission denied for schema snowmint");
    /// assert!(rights.is_some_and(|rights| rights.contains("grant this role USAGE on the schema")));
    /// ```
    pub fn misconfigured(self, code: &str, message: &str) -> Option<&'static str> {
        let causes = match self {
            Self::Postgres => POSTGRES,
            Self::Mysql => MYSQL,
            Self::Redis => REDIS,
            Self::Sqlite => SQLITE,
            Self::Dynamodb => DYNAMODB,
            Self::Nats => &[],
        };
        let says = |parts: &&[&str]| parts.iter().all(|part| message.contains(part));
        // A message beside a code may be in any language.
        let reads_message = !matches!(self, Self::Postgres) || code.is_empty();
        let cause =
            causes.iter().find(|cause| cause.codes.contains(&code) || reads_message && cause.says.iter().any(says));
        cause.map(|cause| cause.cure)
    }

    /// Returns the meaning of an error with this code for the statement that failed. The statement had no effect.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::{Denial, Engine};
    /// assert_eq!(Engine::Postgres.denial("23505"), Denial::Duplicate);
    /// assert_eq!(Engine::Mysql.denial("1213"), Denial::Undone);
    /// ```
    pub fn denial(self, code: &str) -> Denial {
        match (self, code) {
            // Serialization failure, deadlock; deadlock.
            (Self::Postgres, "40001" | "40P01") | (Self::Mysql, "1213") => Denial::Undone,
            (Self::Mysql, "1205") => Denial::Locked,
            // Unique violation, duplicate schema, table, object; duplicate entry.
            (Self::Postgres, "23505" | "42P06" | "42P07" | "42710") | (Self::Mysql, "1062") => Denial::Duplicate,
            // Out of the range of a column, out of the range of `BIGINT`.
            (Self::Mysql, "1264" | "1690") => Denial::Beyond,
            // At the end of a sequence.
            (Self::Postgres, "2200H") | (Self::Mysql, "4084") => Denial::RunOut,
            _ => Denial::Other,
        }
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
            (Engine::Postgres, "42501", "permission denied for schema snowmint"),
            (Engine::Postgres, "", "ERROR:  permission denied for schema snowmint"),
            (Engine::Postgres, "42883", "function pg_stat_get_wal_senders() does not exist"),
            (Engine::Mysql, "1142", "INSERT command denied to user"),
            (Engine::Redis, "", "NOPERM User ids has no permissions to run the 'eval' command"),
        ] {
            assert!(engine.misconfigured(code, message).is_some_and(|cure| cure.starts_with(": ")), "{message}");
        }
        assert_eq!(Engine::Redis.misconfigured("", "WRONGPASS invalid username-password pair"), Some(""));
    }

    #[test]
    fn a_client_without_codes_is_understood_by_its_message() {
        assert_eq!(Engine::Postgres.misconfigured("", "invalid connection option \"ssl\""), Some(""));
        let says = "connection failed: FATAL:  role \"nobody\" does not exist";
        assert_eq!(Engine::Postgres.misconfigured("", says), Some(""));
        // With a code the message is not read.
        assert_eq!(Engine::Postgres.misconfigured("57P03", says), None);
    }
}
