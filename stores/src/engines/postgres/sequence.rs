//! Native sequences of `PostgreSQL`.

use async_trait::async_trait;
use sqlx::postgres::PgConnection;

use super::dialect::PgDialect;
use super::message;
use crate::engines::sql::{Failure, NativeSequences, Row};
use crate::numbers::NativeTarget as Target;
use crate::scripts::{POSTGRES_NEXTVAL, POSTGRES_OBJECT, POSTGRES_SEQUENCE};

#[async_trait]
impl NativeSequences for PgDialect {
    async fn object(connection: &mut PgConnection, target: &Target) -> Result<(String, Option<String>), Failure> {
        let rows = message::rows(connection, &target.fill(POSTGRES_OBJECT, 0)).await?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    async fn state(connection: &mut PgConnection, target: &Target) -> Result<Option<Row>, Failure> {
        Ok(message::rows(connection, &target.fill(POSTGRES_SEQUENCE, 0)).await?.into_iter().next())
    }

    async fn values(connection: &mut PgConnection, target: &Target, count: u64) -> Result<Vec<i64>, sqlx::Error> {
        // All rows, as the commit comes after the last one.
        let rows: Vec<(i64,)> = message::rows(connection, &target.fill(POSTGRES_NEXTVAL, count)).await?;
        Ok(rows.into_iter().map(|(number,)| number).collect())
    }
}
