//! Who holds something, for people.

use std::path::Path;

/// Program and process of this one.
pub(crate) fn label() -> String {
    let program = std::env::args_os().next().unwrap_or_default();
    let program = Path::new(&program).file_name().unwrap_or_default().to_string_lossy();
    format!("{program}:{}", std::process::id())
}

/// Program, process and host of this one.
pub(crate) fn label_with_host() -> String {
    #[cfg(unix)]
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let host = std::env::var("COMPUTERNAME").unwrap_or_default();
    format!("{}@{host}", label())
}
