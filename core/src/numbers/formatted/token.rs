//! The tokens of a pattern.

use crate::error::{Error, What};

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A character that stands for itself.
    Literal(char),
    /// `{yyyy}`.
    Year,
    /// `{yy}`.
    ShortYear,
    /// `{MM}`.
    Month,
    /// `{dd}`.
    Day,
    /// `{HH}`.
    Hour,
    /// Zeros in braces, with their number.
    Counter(usize),
    /// `{luhn}`.
    Luhn,
    /// `{mod97}`.
    Mod97,
}

impl Token {
    /// The tokens with a name.
    const NAMED: [(&'static str, Self); 7] = [
        ("yyyy", Self::Year),
        ("yy", Self::ShortYear),
        ("MM", Self::Month),
        ("dd", Self::Day),
        ("HH", Self::Hour),
        ("luhn", Self::Luhn),
        ("mod97", Self::Mod97),
    ];

    /// Reads the token at the start of a text that is not empty. Returns it and the rest; `None` if no token starts the
    /// text.
    fn read(text: &str) -> Option<(Self, &str)> {
        for brace in ["{{", "}}"] {
            if let Some(rest) = text.strip_prefix(brace) {
                return Some((Self::Literal(char::from(brace.as_bytes()[0])), rest));
            }
        }
        if let Some(inner) = text.strip_prefix('{') {
            let (name, rest) = inner.split_once('}')?;
            if !name.is_empty() && name.bytes().all(|byte| byte == b'0') {
                return Some((Self::Counter(name.len()), rest));
            }
            return Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, token)| (*token, rest));
        }
        let letter = text.chars().next().filter(|letter| *letter != '}')?;
        Some((Self::Literal(letter), &text[letter.len_utf8()..]))
    }

    /// Returns the number of bytes that the token takes in a text; 0 for the counter, whose width varies.
    pub(super) const fn width(self) -> usize {
        match self {
            Self::Literal(letter) => letter.len_utf8(),
            Self::Year => 4,
            Self::ShortYear | Self::Month | Self::Day | Self::Hour | Self::Mod97 => 2,
            Self::Luhn => 1,
            Self::Counter(_) => 0,
        }
    }

    /// Returns the token as an error shows it: the bytes of at most 8 characters.
    pub(super) const fn shown(self) -> u64 {
        u64::from_le_bytes(match self {
            Self::Year => *b"{yyyy}\0\0",
            Self::ShortYear => *b"{yy}\0\0\0\0",
            Self::Month => *b"{MM}\0\0\0\0",
            Self::Day => *b"{dd}\0\0\0\0",
            Self::Hour => *b"{HH}\0\0\0\0",
            Self::Luhn => *b"{luhn}\0\0",
            Self::Mod97 => *b"{mod97}\0",
            Self::Counter(_) | Self::Literal(_) => [0; 8],
        })
    }

    /// Returns the token, or the token of another length of the same part of a date.
    pub(super) const fn part(self) -> Self {
        if matches!(self, Self::ShortYear) { Self::Year } else { self }
    }
}

/// The tokens of a text in their order, until the end or the first mistake.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a>(pub(super) &'a str);

impl Tokens<'_> {
    /// Refuses a text that does not end after the tokens taken so far, with the place of the mistake in `text`.
    pub(super) fn refuse_rest(&self, text: &str) -> Result<(), Error> {
        if self.0.is_empty() {
            return Ok(());
        }
        let read = text.chars().count() - self.0.chars().count();
        Err(Error::new(What::PatternToken, 0, read as u64 + 1, 0))
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        if self.0.is_empty() {
            return None;
        }
        let (token, rest) = Token::read(self.0)?;
        self.0 = rest;
        Some(token)
    }
}
