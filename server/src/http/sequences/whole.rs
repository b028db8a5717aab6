//! An integer in a body: a string of digits, or a number of JSON.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::{RefOr, schema};
use utoipa::{PartialSchema, ToSchema};

/// An integer. Those beyond 64 bits are refused by the rules of the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole(pub i128);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Self, D::Error> {
        given.deserialize_any(Digits)
    }
}

struct Digits;

impl Visitor<'_> for Digits {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer, as a string if it is beyond 2^53")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Whole, E> {
        Ok(Whole(number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Whole, E> {
        Ok(Whole(number.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Whole, E> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_whole = (1..=20).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_whole).map(Whole);
        number.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

impl PartialSchema for Whole {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(Type::String).pattern(Some("^-?[0-9]{1,20}$"));
        // Those of a `bigint unsigned` above 2^63-1 are strings, as many parsers read no larger number.
        let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(i64::MIN)).maximum(Some(i64::MAX));
        RefOr::T(Schema::OneOf(OneOfBuilder::new().item(text).item(number).build()))
    }
}

impl ToSchema for Whole {
    fn schemas(schemas: &mut Vec<(String, RefOr<schema::Schema>)>) {
        schemas.push(("Whole".to_owned(), Self::schema()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_a_string_or_a_number() {
        let read = |text: &str| serde_json::from_str::<Whole>(text).ok().map(|Whole(number)| number);
        assert_eq!([read("5"), read("\"5\""), read("-5"), read("\"-5\"")], [Some(5), Some(5), Some(-5), Some(-5)]);
        assert_eq!(read("\"18446744073709551615\""), Some(u64::MAX.into()));
        for wrong in ["5.0", "5.5", "1e3", "\"\"", "\"-\"", "\"+5\"", "\" 5\"", "\"5.0\"", "true", "null", "[5]"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
