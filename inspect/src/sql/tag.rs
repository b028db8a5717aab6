//! Quotes around the body of a function of `PostgreSQL`.

use core::fmt;

/// The dollar quotes of a body: `$snowmint0$`, or the first number that neither the schema nor the name has.
pub(super) struct Tag<'a> {
    pub(super) schema: &'a str,
    pub(super) name: &'a str,
}

impl fmt::Display for Tag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_in = |name: &str, number: u32| {
            name.split("$snowmint").skip(1).any(|rest| {
                let digits = rest.split(|char: char| !char.is_ascii_digit()).next();
                digits.is_some_and(|digits| digits.parse() == Ok(number))
            })
        };
        // Names of at most 63 bytes have room for twelve numbers in all.
        let free = (0..16).find(|number| !is_in(self.schema, *number) && !is_in(self.name, *number));
        write!(f, "$snowmint{}$", free.unwrap_or_default())
    }
}
