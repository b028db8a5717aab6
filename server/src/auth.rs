//! The token that clients show.

use std::path::Path;

use subtle::ConstantTimeEq as _;

use crate::exit::Exit;

/// What clients have to show; nothing, if everybody may ask.
#[derive(Clone)]
pub struct Token(Option<String>);

// It is a secret.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Token(set)" } else { "Token(none)" })
    }
}

impl Token {
    /// The one line of a file.
    pub fn read(path: Option<&Path>) -> Result<Self, Exit> {
        let Some(path) = path else { return Ok(Self(None)) };
        let refused = |why: String| Exit::Wrong(format!("the token file {}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        let token = text.trim();
        if token.len() < 16 || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(refused("a token is a line of 16 or more visible ASCII characters".to_owned()));
        }
        Ok(Self(Some(token.to_owned())))
    }

    /// Whether one is asked for.
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Whether this is it, in a time that tells nothing but its length.
    pub fn is(&self, shown: &[u8]) -> bool {
        self.0.as_ref().is_none_or(|token| token.as_bytes().ct_eq(shown).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_is_the_token() {
        let token = Token(Some("0123456789abcdef".to_owned()));
        assert!(token.is_set() && token.is(b"0123456789abcdef"));
        for other in ["", "0123456789abcdeF", "0123456789abcde", "0123456789abcdef0"] {
            assert!(!token.is(other.as_bytes()));
        }
        assert!(Token(None).is(b""));
        assert_eq!(format!("{token:?}"), "Token(set)");
    }

    #[test]
    fn a_token_that_is_easily_guessed_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("token");
        for bad in ["", "short", "0123456789 abcdef", "0123456789abcdef\n0123456789abcdef"] {
            std::fs::write(&path, bad).expect("written");
            assert!(Token::read(Some(&path)).is_err(), "{bad:?}");
        }
        std::fs::write(&path, "0123456789abcdef\n").expect("written");
        assert!(Token::read(Some(&path)).expect("a token").is(b"0123456789abcdef"));
        assert!(!Token::read(None).expect("none").is_set());
    }
}
