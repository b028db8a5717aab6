//! Several statements for `MySQL` in one message of the text protocol, which holds a whole transaction.

use async_trait::async_trait;
use sqlx::mysql::{MySqlConnection, MySqlQueryResult, MySqlRow};
use sqlx::{AssertSqlSafe, Executor as _, FromRow, MySql};

use crate::engines::sql::query::{Group, Outcome, Statement, Value, hex, outcomes};

#[async_trait]
impl<R: for<'r> FromRow<'r, MySqlRow> + Send + 'static> Group<R> for MySqlConnection {
    async fn group(&mut self, statements: &[Statement]) -> Result<Vec<Outcome<R>>, sqlx::Error> {
        let begin = "START TRANSACTION".to_owned();
        let filled = statements.iter().map(|(statement, values)| filled(statement, values));
        let all: Vec<_> = std::iter::once(begin).chain(filled).chain(["COMMIT".to_owned()]).collect();
        let steps = sqlx::raw_sql(AssertSqlSafe(all.join("; "))).fetch_many(&mut *self);
        match outcomes::<MySql, R>(steps, 1, MySqlQueryResult::rows_affected).await {
            Ok(mut done) => {
                // That of COMMIT.
                done.pop();
                Ok(done)
            }
            Err(error) => {
                // The server stops at the first error, within the transaction.
                if error.as_database_error().is_some() {
                    self.execute("ROLLBACK").await?;
                }
                Err(error)
            }
        }
    }
}

/// Puts the values into a statement, for each `?`.
fn filled(statement: &str, values: &[Value]) -> String {
    let mut values = values.iter().map(literal);
    let mut parts = statement.split('?');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(&values.next().unwrap_or_default());
        text.push_str(part);
    }
    text
}

/// Returns a value as a literal, which means the same in every mode of SQL.
fn literal(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("_utf8mb4 x'{}'", hex(text.as_bytes())),
        Value::Number(number) => number.to_string(),
        Value::Bytes(bytes) => format!("x'{}'", hex(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_literals_of_digits() {
        let values = [Value::Number(-5), Value::Text("a'?\\".to_owned()), Value::Bytes(vec![0, 255])];
        assert_eq!(filled("SELECT ?, ?, ?", &values), "SELECT -5, _utf8mb4 x'61273f5c', x'00ff'");
    }
}
