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

#[cfg(snowmint_mutants)]
extern crate std;

#[cfg(snowmint_mutants)]
static REMOVED: std::sync::OnceLock<Option<std::string::String>> = std::sync::OnceLock::new();

/// Returns whether this process leaves out the check with this name.
#[cfg(snowmint_mutants)]
pub fn removes(check: &str) -> bool {
    REMOVED.get_or_init(|| std::env::var("SNOWMINT_MUTANT").ok()).as_deref() == Some(check)
}

/// Leaves out a check where the host has no environment variables, as in a page. Call this before any call of
/// [`removes`]: later calls have no effect.
#[cfg(snowmint_mutants)]
pub fn remove(check: &str) {
    // The second name would be ignored.
    let _ = REMOVED.set(Some(std::string::String::from(check)));
}

/// Leaves out no check: this build has all of them for good.
#[cfg(not(snowmint_mutants))]
pub const fn remove(_check: &str) {}
