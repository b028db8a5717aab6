//! The token that clients send.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use subtle::ConstantTimeEq as _;

use crate::exit::Exit;
use crate::files::read_text;

/// The limit of a token file, in bytes.
const MOST: u64 = 4096;

/// The token that clients must send, or `None` if the server needs no token. Clones share one token.
#[derive(Clone)]
pub struct Token(Option<Arc<Secret>>);

struct Secret {
    path: PathBuf,
    text: RwLock<String>,
}

// The text is a secret.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_set() { "Token(set)" } else { "Token(none)" })
    }
}

impl Token {
    /// Reads the token from the single line of a file.
    pub fn read(path: Option<&Path>) -> Result<Self, Exit> {
        let Some(path) = path else { return Ok(Self(None)) };
        Ok(Self(Some(Arc::new(Secret { path: path.to_owned(), text: RwLock::new(text_of(path)?) }))))
    }

    /// Reads the file again, for all clones. If the file holds no valid token, the old token stays.
    pub fn read_again(&self) -> Result<(), Exit> {
        let Some(secret) = &self.0 else { return Ok(()) };
        let text = text_of(&secret.path)?;
        *secret.text.write().unwrap_or_else(PoisonError::into_inner) = text;
        Ok(())
    }

    /// Returns a warning with its cure, if every user of the machine can read the file.
    pub fn exposure(&self) -> Option<String> {
        let path = &self.0.as_ref()?.path;
        let exposed = rights_of_others(path) & 0o4 != 0;
        exposed.then(|| format!("every user of this machine can read the token file: chmod o-r {}", path.display()))
    }

    /// Returns whether clients must send a token.
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Returns whether a client sent this token, in a time that depends on the length only.
    pub fn is(&self, shown: &[u8]) -> bool {
        let Some(secret) = &self.0 else { return true };
        secret.text.read().unwrap_or_else(PoisonError::into_inner).as_bytes().ct_eq(shown).into()
    }
}

fn text_of(path: &Path) -> Result<String, Exit> {
    let refused = |why: String| Exit::Wrong(format!("the token file {}: {why}", path.display()));
    let text = read_text(path, MOST).map_err(|error| refused(error.to_string()))?;
    if rights_of_others(path) & 0o2 != 0 {
        return Err(refused(format!("every user of this machine can change the file: chmod o-w {}", path.display())));
    }
    let token = text.trim();
    if token.len() < 16 || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(refused("a token is a line of 16 or more visible ASCII characters".to_owned()));
    }
    Ok(token.to_owned())
}

/// Returns the last octal digit of a file's mode.
#[cfg(unix)]
fn rights_of_others(path: &Path) -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).map_or(0, |found| found.mode() & 0o7)
}

/// Returns 0: this system has no such mode.
#[cfg(not(unix))]
fn rights_of_others(_path: &Path) -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_token_is_accepted() {
        let text = RwLock::new("0123456789abcdef".to_owned());
        let token = Token(Some(Arc::new(Secret { path: PathBuf::new(), text })));
        assert!(token.is_set() && token.is(b"0123456789abcdef"));
        for other in ["", "0123456789abcdeF", "0123456789abcde", "0123456789abcdef0"] {
            assert!(!token.is(other.as_bytes()));
        }
        assert!(Token(None).is(b""));
        assert_eq!(format!("{token:?}"), "Token(set)");
    }

    #[test]
    fn a_short_or_malformed_token_is_refused() {
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
