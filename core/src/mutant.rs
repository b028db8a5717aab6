//! Mutants: the same code without one safety check, which shows that a test notices the missing check.
//!
//! Only a build with `--cfg snowmint_mutants` has mutants: the environment variable `SNOWMINT_MUTANT` names the check to
//! leave out. In every other build [`removes`] is a constant, so it costs nothing. `scripts/mutants.sh` runs all mutants.

/// Returns whether this process leaves out the check with this name.
#[cfg(not(snowmint_mutants))]
#[inline]
pub const fn removes(_check: &str) -> bool {
    false
}

/// Returns whether this process leaves out the check with this name.
#[cfg(snowmint_mutants)]
pub fn removes(check: &str) -> bool {
    extern crate std;
    static REMOVED: std::sync::OnceLock<Option<std::string::String>> = std::sync::OnceLock::new();
    REMOVED.get_or_init(|| std::env::var("SNOWMINT_MUTANT").ok()).as_deref() == Some(check)
}
