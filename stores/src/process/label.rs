//! Labels of holders, for people. A service refuses labels with control characters, so a program whose file has one in its
//! name shows it escaped.

use std::path::Path;

use snowmint_core::shown::Shown;

/// Returns program and process ID, such as `gunicorn:4711`.
pub fn label() -> String {
    let program = std::env::args_os().next().unwrap_or_default();
    let program = Path::new(&program).file_name().unwrap_or_default().to_string_lossy();
    format!("{}:{}", Shown(program), std::process::id())
}

/// Returns program, process ID and host, such as `gunicorn:4711@web-3`.
pub fn label_with_host() -> String {
    #[cfg(unix)]
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let host = std::env::var("COMPUTERNAME").unwrap_or_default();
    format!("{}@{}", label(), Shown(host))
}
