//! Labels of holders, for people.

use std::path::Path;

/// Returns program and process ID, such as `gunicorn:4711`.
pub fn label() -> String {
    let program = std::env::args_os().next().unwrap_or_default();
    let program = Path::new(&program).file_name().unwrap_or_default().to_string_lossy();
    format!("{program}:{}", std::process::id())
}

/// Returns program, process ID and host, such as `gunicorn:4711@web-3`.
pub fn label_with_host() -> String {
    #[cfg(unix)]
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let host = std::env::var("COMPUTERNAME").unwrap_or_default();
    format!("{}@{host}", label())
}
