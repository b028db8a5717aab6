//! Settings that must never change, and files that only their user may read or change.

use std::fs::{Permissions, metadata, remove_file, set_permissions, write};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;
use std::time::Duration;

use tempfile::TempDir;

use super::support::{Server, TOKEN, command, directory, store};

/// Starts a server that must refuse its settings. Returns its exit code, 124 after 20 s, and its log.
fn refused(directory: &TempDir, options: &[&str]) -> (Option<i32>, String) {
    refused_over(&store(directory.path()), options)
}

fn refused_over(store: &str, options: &[&str]) -> (Option<i32>, String) {
    let run: Output = std::process::Command::new("timeout")
        .args(["20", env!("CARGO_BIN_EXE_snowmint"), "serve", "--http", "127.0.0.1:0", "--redis", "off"])
        .args(["--store", store])
        .args(options)
        .output()
        .expect("timeout(1)");
    (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
}

#[test]
fn another_section_size_is_refused_at_start() {
    let directory = directory();
    let mut server = Server::start(directory.path(), &[]);
    let next = |server: &Server| server.post("/v1/users/1500/next").id();
    let numbers = [next(&server), next(&server), next(&server)];
    assert!(server.end());
    let (code, message) = refused(&directory, &["--section-size", "1000"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("1000") && message.contains("100000"), "both values are named: {message}");
    let server = Server::start(directory.path(), &["--section-size", "100000"]);
    assert!(next(&server) > numbers[2]);
}

#[test]
fn a_section_has_at_most_a_million_users() {
    let directory = directory();
    for size in ["4294967295", "1000001", "0"] {
        let (code, message) = refused(&directory, &["--section-size", size]);
        assert_eq!(code, Some(2), "{message}");
        assert!(message.contains(size) && message.contains("1000000"), "{message}");
    }
    let server = Server::start(directory.path(), &["--section-size", "1000000"]);
    assert_eq!(server.post("/v1/users/18446744073709551615/next").id(), 1);
}

#[test]
fn another_layout_of_a_namespace_is_refused_at_start() {
    let directory = directory();
    let mut server = Server::start(directory.path(), &["--namespace", "orders"]);
    assert!(server.end());
    let (code, message) = refused(&directory, &["--namespace", "orders", "--layout", "twitter"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(
        message.contains("epoch=1735689600000") && message.contains("--layout twitter"),
        "both layouts are named: {message}"
    );
    // Another layout has another default namespace.
    assert_eq!(Server::start(directory.path(), &["--layout", "twitter"]).get("/v1/ids").status, 200);
}

#[test]
fn a_layout_that_vanished_from_beside_its_nodes_lets_no_other_in() {
    let directory = directory();
    let store = format!("file:{}?allow_unsafe=true", directory.path().join("ids").display());
    let mut server = Server::over(&store, &["--namespace", "orders"]);
    server.get("/v1/ids").ids();
    assert!(server.end());
    remove_file(directory.path().join("ids/.store/records/layouts@/orders@record")).expect("removed");
    let (code, message) = refused_over(&store, &["--namespace", "orders", "--layout", "twitter"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("nodes of the namespace have records of another layout"), "{message}");
    assert_eq!(Server::over(&store, &["--namespace", "orders"]).get("/v1/ids").status, 200);
}

#[test]
fn only_its_user_can_read_a_new_database() {
    let (server, directory) = Server::alone(&[]);
    server.get("/v1/ids").ids();
    for file in ["store.db", "store.db-wal", "store.db-shm"] {
        let mode = metadata(directory.path().join(file)).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{file}: {mode:o}");
    }
}

#[test]
fn unsafe_modes_of_a_token_file_are_reported() {
    let directory = directory();
    let file = directory.path().join("token");
    write(&file, TOKEN).expect("written");
    let path = file.to_str().expect("text");
    set_permissions(&file, Permissions::from_mode(0o602)).expect("set");
    let (code, message) = refused(&directory, &["--token-file", path]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("chmod o-w"), "{message}");
    for (mode, warned) in [(0o644, true), (0o640, false), (0o600, false)] {
        set_permissions(&file, Permissions::from_mode(mode)).expect("set");
        let mut server = Server::start(directory.path(), &["--token-file", path]);
        assert!(server.end());
        let output = server.log(Duration::from_secs(5));
        assert_eq!(output.contains("chmod o-r"), warned, "{mode:o}: {output}");
    }
}

#[test]
fn a_flag_out_of_range_is_refused_before_the_store_is_asked() {
    const NONE: &str = "-1";
    const LARGE: &str = "18446744073709551615";
    const LARGER: &str = "18446744073709551616";
    // Nothing listens there.
    let store = "redis://127.0.0.1:1/";
    for (flag, values, expected) in [
        ("--step", &["0", "2147483648", LARGE, LARGER, NONE, "x"][..], "a step is"),
        ("--max-wait-ms", &["0", "3600001", LARGE], "is not in 1..=3600000"),
        ("--window-ms", &["0", "999", "3600001", LARGE], "window_ms must be at least 1000"),
        ("--max-window-ms", &["0", "999", "3600001", LARGE], "is not in 1000..=3600000"),
        ("--section-size", &["0", "1000001", LARGE], "a section has 1 to 1000000 users"),
        ("--max-connections", &["0", "100001", LARGE], "is not in 1..=100000"),
        ("--max-connections-per-address", &["0", "100001", LARGE], "is not in 1..=100000"),
        ("--idle-s", &["0", "86401", LARGE], "is not in 1..=86400"),
        ("--advertise", &["", "a b", "/path", "http://", "http://a\n"], "an address is"),
        ("--allow-host", &["", "http://a", "a:80", "user@a"], "write a host name"),
        (
            "--allow-origin",
            &["", "app.example", "https://a/b", "https://a\tb", "https://u@a", "https://A"],
            "write an origin",
        ),
        ("--layout", &["", "twiter", "time:41"], ""),
        ("--namespace", &["", ".x", "a/b"], "is not allowed"),
        ("--log", &["x=y=z"], "--log"),
        ("--log-format", &["xml"], "--log-format"),
        ("--http", &["127.0.0.1", "127.0.0.1:65536"], "--http"),
        ("--health", &["127.0.0.1", "127.0.0.1:65536"], "--health"),
    ] {
        for value in values {
            // The last one counts where a flag is there already.
            let (code, said) =
                ended_with(&["serve", "--http=off", "--redis=127.0.0.1:0", "--store", store], flag, value);
            assert_eq!(code, Some(2), "{flag} {value}: {said}");
            assert!(
                said.contains(expected) && !said.contains("STORE") && !said.contains("Redis"),
                "{flag} {value}: {said}"
            );
        }
    }
}

#[test]
fn a_verb_refuses_a_flag_out_of_range_and_changes_nothing() {
    const LARGE: &str = "18446744073709551615";
    let directory = directory();
    let store = store(directory.path());
    super::support::make_tag(directory.path(), "orders");
    for (words, flag, values) in [
        (&["segment", "create", "new"][..], "--step", &["0", "2147483648", LARGE][..]),
        (&["segment", "create", "new"], "--start", &["9223372036854775808", LARGE]),
        (&["segment", "next", "orders"], "--count", &["0"]),
        (&["sequence", "create", "new"], "--cache", &["0", "-1", LARGE]),
        (&["sequence", "create", "new"], "--increment", &["0", LARGE]),
        (&["sequence", "create", "new"], "--start", &[LARGE]),
        (&["fence", "--stopped", "--skip=0"], "--max-window-ms", &["0", "999", "604800001", LARGE]),
        (&["fence", "--stopped"], "--skip", &["9223372036854775808", LARGE]),
        (&["fence", "--stopped", "--skip=0"], "--until", &["x", "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]),
        (&["fence", "--stopped", "--skip=0"], "--tickets", &[""]),
    ] {
        for value in values {
            let (code, said) = ended_with(&[words, &["--store", &store]].concat(), flag, value);
            assert_eq!(code, Some(2), "{words:?} {flag} {value}: {said}");
        }
    }
    let server = Server::start(directory.path(), &[]);
    assert_eq!(server.get("/v1/segments/orders").range(), 1..2);
    server.get("/v1/segments/new").problem(404, "INVALID_TEXT");
    assert_eq!(server.post("/v1/sequences/new/next").ids(), [1]);
    assert_eq!(server.get("/v1/ids").ids().len(), 1, "there is no fence");
}

/// Runs a command with a flag, which must end by itself, and returns its exit code and its log.
fn ended_with(words: &[&str], flag: &str, value: &str) -> (Option<i32>, String) {
    let run = std::process::Command::new("timeout")
        .args(["20", env!("CARGO_BIN_EXE_snowmint")])
        .args(words.iter().filter(|word| !word.starts_with(&format!("{flag}="))))
        .arg(format!("{flag}={value}"))
        .output()
        .expect("timeout(1)");
    (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
}

#[test]
fn a_token_file_without_an_end_is_refused() {
    let directory = directory();
    let long = directory.path().join("long");
    write(&long, "x".repeat(5000)).expect("written");
    for path in ["/dev/zero", long.to_str().expect("text")] {
        let (code, message) = refused(&directory, &["--token-file", path]);
        assert_eq!(code, Some(2), "{message}");
        assert!(message.contains(path) && message.contains("longer than 4096 bytes"), "{message}");
        let (code, message) = refused(&directory, &["--tls-cert", path, "--tls-key", path]);
        assert_eq!(code, Some(2), "{message}");
        assert!(message.contains(path), "{message}");
    }
}

#[test]
fn a_token_in_plain_text_is_warned_of() {
    const WARNING: &str = "clients on other machines send the token in plain text";
    let directory = directory();
    let file = directory.path().join("token");
    write(&file, TOKEN).expect("written");
    let token = ["--token-file", file.to_str().expect("text")];
    let path = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    write(path("cert.pem"), made.cert.pem()).expect("written");
    write(path("key.pem"), made.signing_key.serialize_pem()).expect("written");
    let (cert, key) = (path("cert.pem"), path("key.pem"));
    for (options, warned) in [
        (&["--health", "0.0.0.0:0"][..], true),
        (&["--health", "127.0.0.1:0"], false),
        (&["--health", "0.0.0.0:0", "--plain"], false),
        (&["--health", "0.0.0.0:0", "--tls-cert", &cert, "--tls-key", &key], false),
    ] {
        let mut server = Server::start(directory.path(), &[&token[..], options].concat());
        assert!(server.end());
        let output = server.log(Duration::from_secs(5));
        assert_eq!(output.contains(WARNING), warned, "{options:?}: {output}");
    }
}

#[test]
fn a_private_default_store_is_refused() {
    // Two pods, each with a private home directory.
    for _ in 0..2 {
        let home = TempDir::new().expect("a directory");
        let mut run = command();
        run.args(["serve", "--http", "127.0.0.1:0", "--redis", "off"])
            .env("HOME", home.path())
            .env_remove("XDG_DATA_HOME")
            .env_remove("STATE_DIRECTORY")
            .env("KUBERNETES_SERVICE_HOST", "10.0.0.1")
            .env("SNOWMINT_LOG", "off");
        let message = ended(&mut run);
        assert!(message.contains("--store") && message.contains("Kubernetes"), "{message}");
    }
}

/// Runs a command that must end by itself with exit code 2, and returns its log.
fn ended(command: &mut std::process::Command) -> String {
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().expect("it starts");
    let begun = std::time::Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > Duration::from_secs(10) {
            child.kill().expect("it runs");
            child.wait().expect("it ended");
            panic!("it serves");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let run = child.wait_with_output().expect("its words");
    assert_eq!(run.status.code(), Some(2));
    String::from_utf8_lossy(&run.stderr).into_owned()
}
