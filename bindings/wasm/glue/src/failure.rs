//! Results and errors.

use snowmint_core::Error;

use crate::memory::{Single, buffer};

/// The result of a failed function.
const FAILED: i32 = -1;

/// Whether a call has failed since the last `take_error`.
static FAILING: Single<bool> = Single::new(false);

/// Keeps an error for `take_error`.
#[cold]
#[inline(never)]
pub fn failed(error: Error) -> i32 {
    let [.., what, mark, a, b] = &mut buffer().words;
    [*what, *mark, *a, *b] = error.to_words();
    *FAILING.get() = true;
    FAILED
}

/// Returns `value` of a result, which is a handle, a length or 0; keeps an error for `take_error` and returns `FAILED`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "out of line, results would be copied, which takes more than the call saves")]
pub fn answer<T>(result: Result<T, Error>, value: impl FnOnce(T) -> u32) -> i32 {
    match result {
        Ok(result) => value(result) as i32,
        Err(error) => failed(error),
    }
}

/// Whether there was an error since the last call. The last four words of the buffer describe the error: the number of
/// its sentence, then the values in it. All other answers use the first words.
#[unsafe(no_mangle)]
pub extern "C" fn take_error() -> bool {
    core::mem::take(FAILING.get())
}
