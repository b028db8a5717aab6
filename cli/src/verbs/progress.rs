//! How far a long verb is: a line on the terminal.

use std::borrow::Cow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

/// How often a line without a count changes.
const TICK_INTERVAL: Duration = Duration::from_millis(100);

/// Returns a line that `template` shows on standard error. It counts to `total`, which may be unknown, and is removed
/// when it is dropped. It is hidden unless standard error is a terminal.
pub(super) fn progress(total: Option<u64>, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).map_or_else(|_| ProgressStyle::default_bar(), ascii);
    ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr())
        .with_style(style)
        .with_finish(ProgressFinish::AndClear)
}

/// Shows on a terminal that the program works, until the result is dropped.
pub fn working(message: impl Into<Cow<'static, str>>) -> ProgressBar {
    let line = progress(None, "{spinner} {msg}, {elapsed}").with_message(message);
    line.tick();
    line.enable_steady_tick(TICK_INTERVAL);
    line
}

/// Draws with characters that every terminal has.
fn ascii(style: ProgressStyle) -> ProgressStyle {
    style.progress_chars("=> ").tick_chars("|/-\\ ")
}
