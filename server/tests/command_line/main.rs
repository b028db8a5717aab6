//! The command line, run as separate processes.
//!
//! The packages for Python and Node have the same verbs: `SNOWMINT_COMMAND="python -m snowmint"` runs `verbs` and `audit` with that
//! command instead of the program.

mod audit;
mod operators;
mod verbs;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// Returns the words of the command, if it is one of a package.
fn packaged() -> Option<Vec<String>> {
    let words = std::env::var("SNOWMINT_COMMAND").ok()?;
    Some(words.split_whitespace().map(str::to_owned).collect())
}

fn command() -> Command {
    let words = packaged().unwrap_or_else(|| vec![env!("CARGO_BIN_EXE_snowmint").to_owned()]);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SNOWMINT_")) {
        command.env_remove(name);
    }
    command
}

fn run(words: &[&str], stdin: &[u8]) -> Output {
    let mut child = command()
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // A program that reads a file, or refuses the first lines, closes its input early.
    let _ = child.stdin.take().expect("piped").write_all(stdin);
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn lines(words: &[&str]) -> Vec<String> {
    let done = run(words, b"");
    assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
    text(&done.stdout).lines().map(str::to_owned).collect()
}

/// Returns the exit code and the single line on standard error.
fn complaint(words: &[&str]) -> (Option<i32>, String) {
    let done = run(words, b"");
    assert!(done.stdout.is_empty(), "{done:?}");
    let message = text(&done.stderr);
    assert!(message.starts_with("snowmint: ") && message.lines().count() == 1, "{message}");
    (done.status.code(), message)
}
