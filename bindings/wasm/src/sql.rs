//! A layout as SQL.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use js_sys::Object;
use snowmint_core::{Error, Layout, Options, SequenceStart};
use snowmint_inspect::sql::{Column, Dialect, MariadbFunction, PostgresFunction, Wide};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::set;
use crate::error::raise;

/// How a function deals with the clock.
#[wasm_bindgen]
pub struct FunctionOptions(Options);

#[wasm_bindgen]
impl FunctionOptions {
    /// Takes core's default for a missing option.
    #[wasm_bindgen(constructor)]
    pub fn new(
        max_ahead_ms: Option<f64>,
        max_wait_ms: Option<f64>,
        start: Option<String>,
    ) -> Result<FunctionOptions, JsValue> {
        let mut options = Options::DEFAULT;
        if let Some(ms) = max_ahead_ms {
            options.max_ahead_ms = ms as u64;
        }
        if let Some(ms) = max_wait_ms {
            options.max_wait_ms = ms as u64;
        }
        if let Some(name) = start {
            options.sequence_start = SequenceStart::find(name).map_err(raise)?;
        }
        Ok(Self(options))
    }
}

fn layout_and_node(layout: &str, node: &str) -> Result<(Layout, u64), Error> {
    let layout = Layout::find(layout)?;
    Ok((layout, layout.parse_node(node)?.into()))
}

/// Returns the script of a function of `PostgreSQL`.
#[wasm_bindgen(js_name = postgresFunction)]
pub fn postgres_function(
    layout: &str,
    schema: &str,
    name: &str,
    node: &str,
    options: &FunctionOptions,
) -> Result<String, JsValue> {
    let (layout, node) = layout_and_node(layout, node).map_err(raise)?;
    let function = PostgresFunction::new(&layout, schema, name, node.into()).map_err(raise)?;
    Ok(function.with_options(options.0).to_string())
}

/// Returns the statements for `MariaDB` that create a function.
#[wasm_bindgen(js_name = mariadbFunction)]
pub fn mariadb_function(
    layout: &str,
    schema: &str,
    name: &str,
    node: &str,
    options: &FunctionOptions,
) -> Result<Vec<String>, JsValue> {
    let (layout, node) = layout_and_node(layout, node).map_err(raise)?;
    let function = MariadbFunction::new(&layout, schema, name, node.into()).map_err(raise)?;
    Ok(function.with_options(options.0).statements().iter().map(ToString::to_string).collect())
}

/// Returns the script of a function of `PostgreSQL` for a kind of 128-bit IDs.
#[wasm_bindgen(js_name = postgresWideFunction)]
pub fn postgres_wide_function(kind: &str, schema: &str, name: &str) -> Result<String, JsValue> {
    let function = Wide::find(kind).and_then(|kind| kind.postgres_function(schema, name)).map_err(raise)?;
    Ok(function.to_string())
}

/// Calls `print` with a column.
fn of_column<T>(
    layout: &str,
    dialect: &str,
    name: &str,
    print: impl FnOnce(Column<'_>) -> Result<T, Error>,
) -> Result<T, JsValue> {
    let found = Layout::find(layout).and_then(|layout| Ok((layout, Dialect::find(dialect)?)));
    let (layout, dialect) = found.map_err(raise)?;
    Column::new(&layout, dialect, name).and_then(print).map_err(raise)
}

/// Returns the expressions for the parts of the IDs in a column.
#[wasm_bindgen(js_name = decodeSql, unchecked_return_type = "SqlParts")]
pub fn decode_sql(layout: &str, dialect: &str, name: &str) -> Result<Object, JsValue> {
    of_column(layout, dialect, name, |column| {
        let parts = Object::new();
        set(&parts, "timestamp", column.timestamp().to_string());
        set(&parts, "timestampMs", column.timestamp_ms().to_string());
        set(&parts, "tick", column.tick().to_string());
        set(&parts, "node", column.node().to_string());
        set(&parts, "sequence", column.sequence().to_string());
        let fields = Object::new();
        for (name, expression) in column.fields() {
            set(&fields, name.as_str(), expression.to_string());
        }
        set(&parts, "fields", fields);
        Ok(parts)
    })
}

/// Returns the predicate for a range of time, Unix ms.
#[wasm_bindgen(js_name = betweenSql)]
pub fn between_sql(layout: &str, dialect: &str, name: &str, from_ms: f64, to_ms: f64) -> Result<String, JsValue> {
    of_column(layout, dialect, name, |column| {
        column.between(from_ms as i64, to_ms as i64).map(|predicate| predicate.to_string())
    })
}

#[wasm_bindgen(typescript_custom_section)]
const PARTS: &str = "
/** Expressions for the parts of the IDs in a column. */
export interface SqlParts {
  timestamp: string;
  timestampMs: string;
  tick: string;
  node: string;
  sequence: string;
  fields: Record<string, string>;
}";
