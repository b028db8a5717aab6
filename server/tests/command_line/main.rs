//! The command line, run as separate processes.
//!
//! The packages for Python and Node have the same verbs: `SNOWMINT_COMMAND="python -m snowmint"` runs `verbs` and `audit` with that
//! command instead of the program.

mod audit;
mod operators;
mod verbs;

#[cfg(target_os = "linux")]
use std::ffi::OsStr;
#[cfg(target_os = "linux")]
use std::fs::File;
#[cfg(target_os = "linux")]
use std::io::Read as _;
use std::io::Write as _;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Removes a line of progress from a terminal.
#[cfg(target_os = "linux")]
const CLEARED: &str = "\r\x1b[2K";

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

/// Returns the examples of a verb's help, of which no line has more than 80 columns.
#[cfg(target_os = "linux")]
fn examples(verb: &str) -> String {
    let help = lines(&[verb, "--help"]);
    assert!(help.iter().all(|line| line.chars().count() <= 80), "{help:#?}");
    let examples: Vec<_> =
        help.iter().skip_while(|line| !line.starts_with("Example")).skip(1).map(|s| s.trim()).collect();
    assert!(!examples.is_empty(), "{help:#?}");
    examples.join("\n")
}

/// Runs a script in a directory, on a store. Its command `snowmint` is the tested one.
#[cfg(target_os = "linux")]
fn run_script(script: &str, directory: &Path, store: &str) {
    let tested = command();
    let words: Vec<_> =
        [tested.get_program()].into_iter().chain(tested.get_args()).map(OsStr::to_string_lossy).collect();
    let script = format!("set -e\nsnowmint() {{ {} \"$@\"; }}\n{script}", words.join(" "));
    let mut bash = Command::new("bash");
    for (name, _) in tested.get_envs() {
        bash.env_remove(name);
    }
    let done =
        bash.args(["-c", &script]).current_dir(directory).env("SNOWMINT_STORE", store).output().expect("it runs");
    assert!(done.status.success(), "{script}\n{}", text(&done.stderr));
}

/// Runs the command with standard error on a terminal, which is standard output too if `out` is `None`. Returns the text that
/// the terminal shows.
#[cfg(target_os = "linux")]
fn on_terminal(words: &[&str], out: Option<File>) -> String {
    use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};

    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let user = openpt(flags).expect("a terminal");
    grantpt(&user).and_then(|()| unlockpt(&user)).expect("an open terminal");
    let terminal = File::from(ioctl_tiocgptpeer(&user, flags).expect("the side of the command"));
    let out = out.unwrap_or_else(|| terminal.try_clone().expect("a second handle"));
    let mut child = command().args(words).env("TERM", "xterm").stdout(out).stderr(terminal).spawn().expect("it starts");
    let mut shown = Vec::new();
    // A read fails once the command has ended.
    let _ = File::from(user).read_to_end(&mut shown);
    assert!(child.wait().expect("it ends").success(), "{}", text(&shown));
    text(&shown)
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
