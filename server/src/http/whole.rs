//! Integers in JSON. `5.0` counts as an integer, as in JSON Schema (validation, section 6.1.1; core, section 4.2.3).

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

/// The first float whose next float is more than 1 away.
const FIRST_INEXACT: f64 = 9_007_199_254_740_992.0;

/// An integer of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole<T>(pub T);

impl<'de, T: TryFrom<i128>> Deserialize<'de> for Whole<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Integer(PhantomData)).map(Self)
    }
}

struct Integer<T>(PhantomData<T>);

impl<T: TryFrom<i128>> Visitor<'_> for Integer<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer within its limits")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        T::try_from(value.into()).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        T::try_from(value.into()).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        let refused = |this: &Self| E::invalid_value(Unexpected::Float(value), this);
        if value.fract() != 0.0 || value.abs() >= FIRST_INEXACT {
            return Err(refused(&self));
        }
        #[allow(clippy::cast_possible_truncation, reason = "it is whole, and below 2^53")]
        let whole = value as i64;
        T::try_from(whole.into()).map_err(|_| refused(&self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: TryFrom<i128>>(text: &str) -> Option<T> {
        serde_json::from_str::<Whole<T>>(text).ok().map(|whole| whole.0)
    }

    #[test]
    fn an_integer_may_have_a_decimal_point() {
        assert_eq!(["5", "5.0", "5e0", "0.5e1"].map(read::<u32>), [Some(5); 4]);
        assert_eq!(
            ["-9504.0", "-0.0", "9007199254740991.0"].map(read::<i64>),
            [Some(-9504), Some(0), Some((1 << 53) - 1)]
        );
        assert_eq!(
            ["18446744073709551615", "-9223372036854775808"].map(read::<i128>),
            [Some(u64::MAX.into()), Some(i64::MIN.into())]
        );
    }

    #[test]
    fn other_types_and_too_large_integers_are_refused() {
        for bad in ["5.5", "-1", "4294967296", "4294967296.0", "1e300", "\"5\"", "null", "true", "9007199254740992.0"] {
            assert_eq!(read::<u32>(bad), None, "{bad}");
        }
    }
}
