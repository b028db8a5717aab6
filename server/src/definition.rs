//! The definition of a sequence, for people and programs.

use std::fmt;

use serde::Serialize;
use snowmint_core::sequence::Rules;
use snowmint_core::shown::Shown;
use utoipa::ToSchema;

/// A sequence, with the terms of SQL.
#[derive(Debug, Serialize, ToSchema)]
pub struct Definition {
    name: String,
    /// The database whose `setval` is followed: `pg`, `mariadb` or `tidb`.
    #[schema(example = "pg")]
    dialect: &'static str,
    #[schema(example = "bigint")]
    r#type: &'static str,
    #[schema(example = "1")]
    start: String,
    #[schema(example = "1")]
    increment: String,
    #[schema(example = "1")]
    min: String,
    #[schema(example = "9223372036854775807")]
    max: String,
    #[schema(example = "1")]
    cache: String,
    cycle: bool,
}

impl Definition {
    pub fn of(name: &str, rules: &Rules) -> Self {
        Self {
            name: name.to_owned(),
            dialect: rules.dialect().name(),
            r#type: rules.kind().name(),
            start: rules.start().to_string(),
            increment: rules.increment().to_string(),
            min: rules.min().to_string(),
            max: rules.max().to_string(),
            cache: rules.cache().to_string(),
            cycle: rules.cycle(),
        }
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, dialect, r#type, start, increment, min, max, cache, cycle } = self;
        let (name, cycle) = (Shown(name), if *cycle { "CYCLE" } else { "NO CYCLE" });
        write!(
            f,
            "SEQUENCE {name} AS {type} INCREMENT BY {increment} MINVALUE {min} MAXVALUE {max} START WITH {start} CACHE \
             {cache} {cycle} ({dialect})"
        )
    }
}
