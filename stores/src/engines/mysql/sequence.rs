//! Native sequences of `MariaDB`.

use async_trait::async_trait;
use snowmint_core::mutant;
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Connection as _};

use super::dialect::MyDialect;
use crate::engines::sql::sequence::is_run_out;
use crate::engines::sql::{Failure, NativeSequences, Row};
use crate::numbers::NativeTarget as Target;
use crate::scripts::{MYSQL_GUARD, MYSQL_NEXTVAL, MYSQL_OBJECT, MYSQL_SEQUENCE};

#[async_trait]
impl NativeSequences for MyDialect {
    async fn object(connection: &mut MySqlConnection, target: &Target) -> Result<(String, Option<String>), Failure> {
        // Its name contains no quotes.
        Ok(sqlx::query_as(AssertSqlSafe(target.fill(MYSQL_OBJECT, 0))).fetch_one(connection).await?)
    }

    async fn state(connection: &mut MySqlConnection, target: &Target) -> Result<Option<Row>, Failure> {
        Ok(sqlx::query_as(AssertSqlSafe(target.fill(MYSQL_SEQUENCE, 0))).fetch_optional(connection).await?)
    }

    async fn values(connection: &mut MySqlConnection, target: &Target, count: u64) -> Result<Vec<i64>, sqlx::Error> {
        let mut transaction = connection.begin().await?;
        let query = sqlx::query_as(AssertSqlSafe(target.fill(MYSQL_NEXTVAL, count)));
        let rows: Vec<(i64,)> = match query.fetch_all(&mut *transaction).await {
            Ok(rows) => rows,
            Err(error) => {
                if is_run_out::<Self>(&error) {
                    transaction.rollback().await?;
                }
                return Err(error);
            }
        };
        if !mutant::removes("guard") {
            sqlx::query(AssertSqlSafe(target.fill(MYSQL_GUARD, 0))).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(rows.into_iter().map(|(number,)| number).collect())
    }
}
