//! The tokens of a server.

use std::fmt;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use subtle::ConstantTimeEq as _;

use super::{Client, Role};
use crate::files::read_text;
use snowmint_cli::Exit;

/// The limit of a token file, in bytes.
const MAX_FILE_BYTES: u64 = 4096;
/// The limit of a token's name, in characters.
const MAX_NAME_CHARS: usize = 16;

/// The tokens of a server, none if it needs no token. Clones share them.
#[derive(Clone, Default)]
pub struct Tokens(Arc<[TokenFile]>);

/// A file of tokens for one role.
struct TokenFile {
    role: Role,
    path: PathBuf,
    tokens: RwLock<Vec<Token>>,
}

struct Token {
    name: Arc<str>,
    text: String,
}

// The tokens are secrets.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|file| file.role)).finish()
    }
}

impl Tokens {
    /// Reads the files of the roles.
    ///
    /// # Errors
    /// `Wrong` for a file without tokens, and for a token or a name that occurs twice.
    pub fn read(files: &[(Role, Option<&Path>)]) -> Result<Self, Exit> {
        let mut read: Vec<TokenFile> = Vec::new();
        for (role, path) in files.iter().filter_map(|(role, path)| Some((*role, (*path)?))) {
            let tokens = tokens_of(role, path)?;
            read.iter().try_for_each(|other| other.refuse_shared(path, &tokens))?;
            read.push(TokenFile { role, path: path.to_owned(), tokens: RwLock::new(tokens) });
        }
        Ok(Self(read.into()))
    }

    /// Reads the files again, for all clones. If one of them is not valid, all old tokens stay.
    pub fn read_again(&self) -> Result<(), Exit> {
        let files: Vec<_> = self.0.iter().map(|file| (file.role, Some(file.path.as_path()))).collect();
        let read = Self::read(&files)?;
        for (file, new) in self.0.iter().zip(&*read.0) {
            let mut new = new.tokens.write().unwrap_or_else(PoisonError::into_inner);
            mem::swap(&mut *file.tokens.write().unwrap_or_else(PoisonError::into_inner), &mut new);
        }
        Ok(())
    }

    /// Returns warnings, each with its cure, about files that every user of the machine can read.
    pub fn exposures(&self) -> impl Iterator<Item = String> {
        let exposed = self.0.iter().filter(|file| rights_of_others(&file.path) & 0o4 != 0);
        exposed.map(|file| {
            format!("every user of this machine can read the token file: chmod o-r {}", file.path.display())
        })
    }

    /// Returns whether clients must send a token.
    pub fn are_set(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns the client that sent this token, in a time that does not depend on how much of a token was right.
    pub fn client(&self, shown: &[u8]) -> Option<Client> {
        let anybody = || (!self.are_set()).then_some(Client::ANYBODY);
        self.0.iter().find_map(|file| file.client(shown)).or_else(anybody)
    }
}

impl TokenFile {
    fn client(&self, shown: &[u8]) -> Option<Client> {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let found = tokens.iter().find(|token| token.text.as_bytes().ct_eq(shown).into())?;
        Some(Client { role: self.role, token: Some(Arc::clone(&found.name)) })
    }

    /// Refuses the tokens of another file, if this file has the same token or the same name.
    fn refuse_shared(&self, path: &Path, others: &[Token]) -> Result<(), Exit> {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let is_shared = |other: &Token| tokens.iter().any(|own| own.text == other.text || own.name == other.name);
        if !others.iter().any(is_shared) {
            return Ok(());
        }
        let why = format!("it shares a token or a name with {}, and each role has its own", self.path.display());
        Err(refused(path, &why))
    }
}

fn refused(path: &Path, why: &dyn fmt::Display) -> Exit {
    Exit::Wrong(format!("the token file {}: {why}", path.display()))
}

/// Reads the tokens of a file: in each line a name, a blank and a token. One token may have no name: it gets the name
/// of the role.
fn tokens_of(role: Role, path: &Path) -> Result<Vec<Token>, Exit> {
    let text = read_text(path, MAX_FILE_BYTES).map_err(|error| refused(path, &error))?;
    if rights_of_others(path) & 0o2 != 0 {
        let why = format!("every user of this machine can change the file: chmod o-w {}", path.display());
        return Err(refused(path, &why));
    }
    let mut tokens: Vec<Token> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (name, token) = line.trim().split_once(' ').unwrap_or((role.name(), line.trim()));
        let is_token = token.len() >= 16 && token.bytes().all(|byte| byte.is_ascii_graphic());
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if !is_token || name.is_empty() || name.len() > MAX_NAME_CHARS || !name.bytes().all(is_name) {
            let why = format!(
                "a token is a line of 16 or more visible ASCII characters, which may have a name of 1 to {MAX_NAME_CHARS} letters, \
                 digits and . _ - and a blank before it"
            );
            return Err(refused(path, &why));
        }
        if tokens.iter().any(|other| *other.name == *name || other.text == token) {
            return Err(refused(
                path,
                &format!("the token or the name {name} occurs twice: write a name before each token"),
            ));
        }
        tokens.push(Token { name: name.into(), text: token.to_owned() });
    }
    if tokens.is_empty() { Err(refused(path, &"it has no token")) } else { Ok(tokens) }
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

    const MINT: &str = "0123456789abcdef";
    const ADMIN: &str = "fedcba9876543210";

    fn written(directory: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    }

    #[test]
    fn only_the_exact_token_gives_its_role() {
        let directory = tempfile::tempdir().expect("a directory");
        let (mint, admin) = (written(&directory, "mint", MINT), written(&directory, "admin", ADMIN));
        let tokens = Tokens::read(&[(Role::Mint, Some(&mint)), (Role::Admin, Some(&admin)), (Role::Metrics, None)]);
        let tokens = tokens.expect("tokens");
        let role = |shown: &str| tokens.client(shown.as_bytes()).map(|client| client.role);
        assert_eq!((role(MINT), role(ADMIN)), (Some(Role::Mint), Some(Role::Admin)));
        for other in ["", "0123456789abcdeF", "0123456789abcde", "0123456789abcdef0", "mint", "mint 0123456789abcdef"] {
            assert_eq!(role(other), None, "{other:?}");
        }
        assert_eq!(format!("{tokens:?}"), "[Mint, Admin]");
        let none = Tokens::read(&[(Role::Mint, None)]).expect("no file");
        assert_eq!((none.are_set(), none.client(b"")), (false, Some(Client::ANYBODY)));
    }

    #[test]
    fn tokens_of_one_role_have_names_and_are_read_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = written(&directory, "mint", &format!("billing {MINT}\n\nshipping {ADMIN}\n"));
        let tokens = Tokens::read(&[(Role::Mint, Some(&path))]).expect("tokens");
        let name = |shown: &str| tokens.client(shown.as_bytes()).and_then(|client| client.token);
        assert_eq!((name(MINT).as_deref(), name(ADMIN).as_deref()), (Some("billing"), Some("shipping")));
        std::fs::write(&path, "short").expect("written");
        assert!(tokens.read_again().is_err() && name(MINT).is_some(), "the old tokens stay");
        std::fs::write(&path, ADMIN).expect("written");
        tokens.read_again().expect("a token");
        assert_eq!((name(MINT), name(ADMIN).as_deref()), (None, Some("mint")));

        let admin = written(&directory, "admin", MINT);
        let tokens = Tokens::read(&[(Role::Mint, Some(&path)), (Role::Admin, Some(&admin))]).expect("tokens");
        std::fs::write(&path, MINT).and_then(|()| std::fs::write(&admin, ADMIN)).expect("exchanged");
        tokens.read_again().expect("tokens");
        let role = |shown: &str| tokens.client(shown.as_bytes()).map(|client| client.role);
        assert_eq!((role(MINT), role(ADMIN)), (Some(Role::Mint), Some(Role::Admin)));
    }

    #[test]
    fn a_short_a_malformed_and_a_shared_token_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        for bad in [
            String::new(),
            "short".to_owned(),
            "0123456789 abcdef".to_owned(),
            format!("{MINT}\n{ADMIN}"),
            format!("a {MINT}\nb {MINT}"),
            format!("a-name-that-is-too-long {MINT}"),
            format!("a/b {MINT}"),
        ] {
            let path = written(&directory, "mint", &bad);
            assert!(Tokens::read(&[(Role::Mint, Some(&path))]).is_err(), "{bad:?}");
        }
        let (mint, admin) = (written(&directory, "mint", MINT), written(&directory, "admin", &format!("x {MINT}")));
        let shared = Tokens::read(&[(Role::Mint, Some(&mint)), (Role::Admin, Some(&admin))]);
        assert!(matches!(shared, Err(Exit::Wrong(why)) if why.contains("each role has its own")));
    }
}
