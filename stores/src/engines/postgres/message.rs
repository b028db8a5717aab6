//! Statements for `PostgreSQL`, each in one message of the simple protocol.
//!
//! A pooler such as `PgBouncer` may give every message to another session of the server. So a message holds the whole
//! transaction: its isolation, the settings that make its commit durable, and the statement with its values. It leaves no
//! setting and no prepared statement in a session. The server wraps the statements of a message in a transaction.

use async_trait::async_trait;
use sqlx::postgres::{PgConnection, PgQueryResult, PgRow};
use sqlx::{AssertSqlSafe, FromRow, Postgres};

use crate::engines::sql::query::{Change, Group, Outcome, Select, Statement, Value, hex, outcomes};
use crate::scripts::POSTGRES_CURE;

/// Each statement sees all earlier commits, whatever the default of server, database and role.
const ISOLATION: &str = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
/// How many rows come before the rows of the statement.
const ROWS_OF_THE_CURE: usize = 1;
/// How many statements come before it.
const STATEMENTS_OF_THE_CURE: usize = 2;

/// Runs a query and reads all its rows. The text contains its values.
pub(super) async fn rows<R>(connection: &mut PgConnection, query: &str) -> Result<Vec<R>, sqlx::Error>
where
    R: for<'r> FromRow<'r, PgRow>,
{
    let rows = sqlx::raw_sql(AssertSqlSafe(message(query))).fetch_all(connection).await?;
    rows.iter().skip(ROWS_OF_THE_CURE).map(R::from_row).collect()
}

fn message(statement: &str) -> String {
    format!("{ISOLATION}; {POSTGRES_CURE}; {statement}")
}

/// Returns a value as a literal, which means the same whatever the session's rules for quotes are.
pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("convert_from(decode('{}', 'hex'), 'UTF8')", hex(text.as_bytes())),
        Value::Number(number) => format!("({number}::bigint)"),
        Value::Bytes(bytes) => format!("decode('{}', 'hex')", hex(bytes)),
    }
}

/// Puts the values into a statement, for `$1`, `$2` and so on.
fn filled(statement: &str, values: &[Value]) -> String {
    let mut parts = statement.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (place, rest) = part.split_at(digits);
        let value = place.parse::<usize>().ok().and_then(|place| values.get(place.checked_sub(1)?));
        text.push_str(&value.map(literal).unwrap_or_default());
        text.push_str(rest);
    }
    text
}

#[async_trait]
impl Change for PgConnection {
    async fn change(&mut self, statement: &'static str, values: &[Value]) -> Result<u64, sqlx::Error> {
        let text = message(&filled(statement, values));
        let done = sqlx::raw_sql(AssertSqlSafe(text)).execute(self).await?;
        Ok(done.rows_affected().saturating_sub(ROWS_OF_THE_CURE as u64))
    }

    async fn script(&mut self, statements: &'static str) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(AssertSqlSafe(message(statements))).execute(self).await.map(drop)
    }
}

#[async_trait]
impl<R: for<'r> FromRow<'r, PgRow> + Send + Unpin + 'static> Select<R> for PgConnection {
    async fn select(&mut self, query: &'static str, values: &[Value]) -> Result<Vec<R>, sqlx::Error> {
        rows(self, &filled(query, values)).await
    }
}

#[async_trait]
impl<R: for<'r> FromRow<'r, PgRow> + Send + 'static> Group<R> for PgConnection {
    async fn group(&mut self, statements: &[Statement]) -> Result<Vec<Outcome<R>>, sqlx::Error> {
        let filled: Vec<_> = statements.iter().map(|(statement, values)| filled(statement, values)).collect();
        let steps = sqlx::raw_sql(AssertSqlSafe(message(&filled.join("; ")))).fetch_many(self);
        outcomes::<Postgres, R>(steps, STATEMENTS_OF_THE_CURE, PgQueryResult::rows_affected).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_literals_of_digits() {
        let values = [Value::Number(-5), Value::Text("a'$1\\".to_owned()), Value::Bytes(vec![0, 255])];
        assert_eq!(
            filled("SELECT $2, $1 - $1, $3", &values),
            "SELECT convert_from(decode('612724315c', 'hex'), 'UTF8'), (-5::bigint) - (-5::bigint), \
             decode('00ff', 'hex')"
        );
    }
}
