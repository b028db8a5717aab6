//! The verbs of operators, which only the program has.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use snowmint_core::lease::Record;
use snowmint_core::place::Variables;
use snowmint_core::{SystemHost, Window, layouts, shown};
use snowmint_stores::host::refuse_default_database;
use snowmint_stores::{Tag, connect};
use tempfile::TempDir;

#[cfg(target_os = "linux")]
use super::{CLEARED, examples, on_terminal, run_script};
use super::{command, complaint, lines, run, text};

/// One byte above the limit.
const TOO_LONG: &str = "http://a-name-that-does-not-fit-into-the-record-of-a-section/";

#[test]
fn serve_needs_only_a_home_directory() {
    let home = TempDir::new().expect("a directory");
    // The default ports may be taken on the machine of a test. All other settings are the defaults.
    let words = ["serve", "--http", "127.0.0.1:0", "--redis", "127.0.0.1:0"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_snowmint"))
        .args(words)
        .env_clear()
        .env("HOME", home.path())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let line = lines.next().expect("a line").expect("text");
    let file = home.path().join(".local/share/snowmint/snowmint.db");
    if let Err(refused) = refuse_default_database(&file, Variables::default()) {
        // In a container the home directory is private.
        assert_eq!(line, format!("snowmint: {refused}"));
        assert_eq!(child.wait().expect("it ends").code(), Some(2));
        return;
    }
    let killed = Command::new("kill").arg(child.id().to_string()).status().expect("kill");
    let rest: Vec<_> = lines.map_while(Result::ok).collect();
    assert!(killed.success() && child.wait().expect("it ends").success(), "{rest:?}");
    assert!(line.contains(" INFO serving http=\"127.0.0.1:"), "{line}");
    assert!(line.contains(file.to_str().expect("text")) && file.exists(), "{line}");

    let homeless = Command::new(env!("CARGO_BIN_EXE_snowmint")).args(words).env_clear().output().expect("it runs");
    let message = text(&homeless.stderr);
    assert_eq!(homeless.status.code(), Some(2), "{message}");
    assert!(message.contains("--store sqlite:PATH"), "{message}");
}

#[test]
fn an_operator_creates_and_uses_sequences_and_segments() {
    let directory = TempDir::new().expect("a directory");
    let store = format!("sqlite:{}/store.db", directory.path().display());
    let on = |words: &[&'static str]| [&[words[0], "--store", &store], &words[1..]].concat();
    lines(&on(&["sequence", "create", "down", "--increment", "-2", "--min", "-9"]));
    assert_eq!(lines(&on(&["sequence", "next", "down", "-n", "2"])), ["-1", "-3"]);
    assert_eq!(lines(&on(&["sequence", "set", "down", "-7", "--not-called"])), ["-7"]);
    assert_eq!(lines(&on(&["sequence", "next", "down", "-n", "2"])), ["-7", "-9"]);
    assert_eq!(complaint(&on(&["sequence", "next", "down"])).0, Some(1));
    assert_eq!(complaint(&on(&["sequence", "create", "down"])).0, Some(1));
    assert_eq!(complaint(&on(&["sequence", "show", "none"])).0, Some(1));
    assert!(lines(&on(&["sequence", "show", "down"]))[0].contains("INCREMENT BY -2 MINVALUE -9"));
    let format = ["sequence", "format", "bills", "B-{00}{mod97}", "--zone", "-03:30", "--overflow", "grow"];
    assert_eq!([lines(&on(&format)), lines(&on(&format))], [["B-0193"], ["B-0290"]]);
    assert_eq!(lines(&on(&["sequence", "next", "bills"])), ["3"]);
    assert_eq!(complaint(&on(&["sequence", "format", "bills", "{00}", "--period", "year"])).0, Some(2));
    assert_eq!(complaint(&on(&["sequence", "format", "bills", "{00}", "--zone", "CET"])).0, Some(2));
    let yearly = lines(&on(&["sequence", "format", "bills", "{yyyy}-{0}", "--period", "year", "--json"]));
    assert!(
        yearly[0].starts_with(r#"{"text": "20"#) && yearly[0].contains(r#"-1", "number": "1", "period": "20"#),
        "{yearly:?}"
    );
    lines(&on(&["segment", "create", "orders", "--start", "10"]));
    assert_eq!(lines(&on(&["segment", "next", "orders", "-n", "3"])), ["10", "11", "12"]);
    assert_eq!(lines(&on(&["segment", "next", "orders"])), ["13"]);
    assert_eq!(lines(&on(&["segment", "ls"])), ["orders"]);
    let raised = lines(&on(&["fence", "--skip", "1000", "--stopped"]));
    assert!(raised.contains(&"tickets    0".to_owned()), "{raised:?}");
    assert_eq!(lines(&on(&["segment", "next", "orders"])), ["1014"]);
}

#[test]
fn an_operator_lists_and_resets_leases() {
    let directory = TempDir::new().expect("a directory");
    let store = format!("sqlite:{}/store.db", directory.path().display());
    lines(&["gen", "--store", &store, "--namespace", "orders"]);
    let ls = lines(&["lease", "ls", "--store", &store]);
    assert_eq!(ls.len(), 3);
    assert!(ls[1].starts_with("orders ") && ls[1].contains("given back"), "{ls:?}");
    assert_eq!(ls[2], "orders: 0 nodes held, 1024 free");
    let far = ["lease", "release", "orders", "0", "--until", "2099-01-01T00:00:00Z", "--stopped", "--store", &store];
    assert!(lines(&far)[1].contains("far ahead"));
    let body: Value =
        serde_json::from_str(&lines(&["lease", "ls", "orders", "--json", "--store", &store])[0]).expect("JSON");
    assert_eq!((&body["node"], &body["state"]), (&json!(0), &json!("far ahead")));
    assert!(lines(&["lease", "release", "orders", "0", "--stopped", "--store", &store])[1].contains("given back"));
    assert_eq!(complaint(&["lease", "release", "orders", "9", "--stopped", "--store", &store]).0, Some(2));
}

/// Clears the screen, then forges a line of `doctor`.
const FORGED: &str = "web\u{1b}[2J\nok    store       fine\u{202e}\u{9b}";
const ESCAPED: &str = r"web\u{1b}[2J\nok    store       fine\u{202e}\u{9b}";

/// Puts a held node with that label, and a tag of that name, into a store, as a client without our checks can.
fn forge(store: &str, namespace: &str) {
    let now_ms = SystemHost::unix_ms();
    let mut label = [0; 60];
    label[..FORGED.len()].copy_from_slice(FORGED.as_bytes());
    let window = Window { start_ms: now_ms, end_ms: now_ms + 600_000 };
    let layout = layouts::SNOWMINT.layout_id().identity();
    let record = Record { released: false, serial: 1, window, nonce: 5, label, layout };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let store = connect(store).await.expect("a store");
        let text = format!("{} nodes=1", layouts::SNOWMINT);
        store.write(&format!("layouts/{namespace}"), text.as_bytes(), 0).await.expect("written");
        store.write(&format!("leases/{namespace}/0"), &record.to_bytes(), 0).await.expect("written");
        let tag = Tag::new(1, 10);
        assert!(store.segments().expect("a table").create(FORGED, &tag).await.expect("written"));
        store.close().await;
    });
}

#[test]
fn a_label_of_another_program_cannot_command_the_terminal() {
    let directory = TempDir::new().expect("a directory");
    let store = format!("sqlite:{}/store.db?allow_unsafe=true", directory.path().display());
    forge(&store, "orders");
    let until = ["lease", "release", "orders", "0", "--stopped", "--until", "2099-01-01T00:00:00Z"];
    let place = ["--store", &store];
    for (words, code, lines, is_shown) in [
        (&["lease", "ls"][..], 0, 3, true),
        (&["lease", "ls", "--json"], 0, 1, false),
        (&["doctor", "--namespace", "orders", "--node", "0"], 0, 7, true),
        (&["doctor", "--namespace", "orders", "--node", "0", "--json"], 0, 7, false),
        (&["gen", "--namespace", "orders", "--node", "0", "--max-wait-ms", "50"], 1, 1, true),
        (&["fence", "--skip", "0", "--stopped"], 2, 1, true),
        (&["segment", "ls"], 0, 1, true),
        (&["segment", "ls", "--json"], 0, 1, false),
        (&["segment", "create", FORGED], 2, 1, false),
        (&["sequence", "show", FORGED], 1, 1, true),
        (&["inspect", FORGED], 1, 2, true),
        (&["inspect", "--layout", "leaf", FORGED], 2, 1, true),
        (&until, 0, 2, true),
    ] {
        let at: &[&str] = if words[0] == "inspect" { &[] } else { &place };
        let done = run(&[words, at].concat(), b"");
        let message = text(&done.stdout) + &text(&done.stderr);
        assert_eq!(done.status.code(), Some(code), "{words:?}: {message}");
        assert!(!message.replace('\n', "").contains(shown::is_hidden), "{words:?}: {message:?}");
        assert_eq!((message.lines().count(), message.contains(ESCAPED)), (lines, is_shown), "{words:?}: {message}");
    }
    let listed = run(&["lease", "ls", "--json", "--store", &store], b"").stdout;
    let listed: Value = serde_json::from_slice(&listed).expect("JSON");
    assert_eq!(listed["label"], ESCAPED);
    let tags: Value =
        serde_json::from_slice(&run(&["segment", "ls", "--json", "--store", &store], b"").stdout).expect("JSON");
    assert_eq!(tags["tag"], FORGED, "a program gets the name as it is");
}

#[test]
fn default_namespaces_have_short_names_that_the_table_holds() {
    let directory = TempDir::new().expect("a directory");
    let store = format!("sqlite:{}/store.db", directory.path().display());
    let long = "a-name-with-more-than-sixteen-characters";
    lines(&["gen", "--store", &store]);
    lines(&["gen", "--store", &store, "--layout", "leaf"]);
    lines(&["gen", "--store", &store, "--layout", "time:42,node:10,sequence:12;epoch=0"]);
    lines(&["gen", "--store", &store, "--namespace", long]);
    let ls = lines(&["lease", "ls", "--store", &store]);
    let names: Vec<_> = ls[..5].iter().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["namespace", "@327e-a00c-627c", "@snowmint", "@twitter", long]);
    let states: Vec<_> = ls[1..5].iter().map(|line| line.find("given back")).collect();
    assert_eq!(states, [ls[0].find("state"); 4], "{ls:#?}");
    assert_eq!(lines(&["lease", "ls", "@twitter", "--store", &store]).len(), 3);
}

#[test]
fn an_operator_lists_slots_and_resets_a_far_one() {
    let directory = TempDir::new().expect("a directory");
    let store = format!("file:{}", directory.path().display());
    let slots = ["--store", &store, "--namespace", "orders", "--layout", "time:41,sequence:12;epoch=1735689600000"];
    let gen_on = |clock: &str| {
        let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
        assert!(Path::new(library).exists(), "install the package faketime");
        let mut command = command();
        command
            .arg("gen")
            .args(slots)
            .env("LD_PRELOAD", library)
            .env("FAKETIME", clock)
            .env("DONT_FAKE_MONOTONIC", "1");
        command.output().expect("it runs")
    };
    // Takes the only node under a clock that is a year ahead.
    assert!(gen_on("+365d").status.success());
    let (code, message) = complaint(&[&["gen"], &slots[..]].concat());
    assert_eq!(code, Some(1), "{message}");
    let named = format!("snowmint lease --store {store} release NAMESPACE NODE --stopped");
    assert!(message.contains(&named) && message.contains(&format!("snowmint lease --store {store} ls")), "{message}");

    let ls = lines(&["lease", "--store", &store, "ls"]);
    assert!(ls.len() == 2 && ls[1].contains("orders") && ls[1].contains("far ahead"), "{ls:?}");
    assert!(ls[1].contains("snowmint:"), "the holder: {ls:?}");
    assert!(!directory.path().join(".store").exists(), "a list of slots creates no store");
    assert_eq!(complaint(&["lease", "--store", &store, "release", "orders", "7", "--stopped"]).0, Some(2));
    let reset = lines(&["lease", "--store", &store, "release", "orders", "0", "--stopped"]);
    assert!(reset[1].contains("free"), "{reset:?}");
    lines(&[&["gen"], &slots[..]].concat());
    let body: Value = serde_json::from_str(&lines(&["lease", "--store", &store, "ls", "--json"])[0]).expect("JSON");
    assert_eq!((&body["node"], &body["state"]), (&json!(0), &json!("free")));
}

#[test]
fn a_slot_with_a_live_holder_is_never_reset() {
    let directory = TempDir::new().expect("a directory");
    let store = format!("file:{}", directory.path().display());
    let mut holder = command()
        .args(["gen", "-n", "100000000", "--store", &store, "--namespace", "orders"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    BufReader::new(holder.stdout.as_mut().expect("piped")).read_line(&mut String::new()).expect("a line");
    let ls = lines(&["lease", "--store", &store, "ls", "orders"]);
    assert!(ls[1].contains("held"), "{ls:?}");
    let (code, message) = complaint(&["lease", "--store", &store, "release", "orders", "0", "--stopped"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("is held by snowmint:") && message.contains("stop it first"), "{message}");
    let fence = ["fence", "--skip", "0", "--stopped", "--store", &store];
    assert!(complaint(&fence).1.contains("stop it first"));
    holder.kill().expect("it is killed");
    holder.wait().expect("it ends");
    assert!(lines(&fence).contains(&"slots      1".to_owned()));
}

#[test]
fn a_fence_refuses_times_that_could_repeat_ids() {
    let directory = TempDir::new().expect("a directory");
    let store = format!("sqlite:{}/store.db", directory.path().display());
    let fence =
        |words: &[&str]| complaint(&[&["fence", "--skip", "0", "--stopped", "--store", &store], words].concat());
    let until = |words: &[&str]| -> i64 {
        let raised = lines(&[&["fence", "--skip", "0", "--stopped", "--store", &store], words].concat());
        let time = raised.last().and_then(|line| line.strip_prefix("new IDs    from ")).expect("a time");
        snowmint_core::time::parse_instant(time).expect("RFC 3339")
    };
    assert_eq!(lines(&["segment", "ls", "--store", &store]), [""; 0]);
    let (code, message) = fence(&[]);
    assert!(
        code == Some(1) && message.contains("is this the restored one?") && message.contains("--empty"),
        "{message}"
    );

    let mut holder = command()
        .args(["gen", "-n", "100000000", "--store", &store, "--namespace", "orders"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    BufReader::new(holder.stdout.as_mut().expect("piped")).read_line(&mut String::new()).expect("a line");
    let (code, message) = fence(&[]);
    assert!(code == Some(2) && message.contains("namespace orders, held by snowmint:"), "{message}");
    assert!(
        message.contains("node 0 may have a live holder") && message.contains("snowmint lease release"),
        "{message}"
    );
    holder.kill().expect("it is killed");
    holder.wait().expect("it ends");
    lines(&["lease", "release", "orders", "0", "--stopped", "--store", &store]);

    for early in ["2026-01-01T00:00:00Z", "0"] {
        let (code, message) = fence(&["--until", early]);
        assert!(code == Some(2) && message.contains("too early"), "{message}");
    }
    let now_ms = SystemHost::unix_ms();
    let short = until(&["--max-window-ms", "2000"]);
    assert!((now_ms + 2000..now_ms + 60_000).contains(&short), "{short} at {now_ms}");
    let auto = until(&[]);
    assert!((now_ms + 3_600_000..now_ms + 3_660_000).contains(&auto), "{auto} at {now_ms}");
    // The first fence is a window that the store knows.
    let (_, message) = fence(&["--until", &(auto - 1).to_string()]);
    assert!(message.contains("too early"), "{message}");
    assert_eq!(until(&["--until", &(auto + 1).to_string()]), auto + 1);
}

#[cfg(target_os = "linux")]
#[test]
fn the_examples_of_operators_run() {
    for verb in ["lease", "namespace", "sequence", "segment", "key", "backup", "fence", "completions"] {
        let directory = TempDir::new().expect("a directory");
        let store = format!("sqlite:{}/store.db", directory.path().display());
        let script =
            if verb == "lease" { "snowmint gen --namespace orders --node 5\n" } else { "snowmint segment create t\n" };
        run_script(&format!("{script}{}", examples(verb)), directory.path(), &store);
    }
    assert!(examples("serve").contains("snowmint serve"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_that_a_fence_and_a_backup_work() {
    let directory = TempDir::new().expect("a directory");
    let store = format!("sqlite:{}/store.db", directory.path().display());
    lines(&["segment", "create", "orders", "--store", &store]);
    let copy = directory.path().join("copy.db");
    let shown = on_terminal(&["backup", copy.to_str().expect("text"), "--store", &store], None);
    assert!(shown.contains("copying the store, 0s"), "{shown:?}");
    assert!(shown.contains(&format!("{CLEARED}{}", copy.display())), "{shown:?}");
    let shown = on_terminal(&["fence", "--skip", "0", "--stopped", "--store", &store], None);
    assert!(shown.contains("raising windows and counters, 0s"), "{shown:?}");
    assert!(shown.contains(&format!("{CLEARED}store      SQLite at ")), "{shown:?}");
    assert!(shown.contains("/store.db\r\nleases     0\r\nsegments   1\r\n"), "{shown:?}");
    let fence = lines(&["fence", "--skip", "0", "--stopped", "--json", "--store", &store]);
    assert_eq!(fence[2], r#"{"count": 1, "kind": "segments"}"#);
}

#[test]
fn slots_without_a_file_begin_at_the_fence() {
    // The test writes a thousand files: in memory this is fast.
    let directory = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a directory");
    let store = format!("file:{}?allow_unsafe=true", directory.path().display());
    lines(&["gen", "--store", &store, "--namespace", "orders"]);
    // An hour ahead, the greatest reach of a holder that got its node after the backup.
    let until_ms = SystemHost::unix_ms() + 3_600_000;
    lines(&["fence", "--until", &until_ms.to_string(), "--skip", "0", "--stopped", "--store", &store]);
    for namespace in ["orders", "made-later"] {
        let (code, message) = complaint(&["gen", "--store", &store, "--namespace", namespace]);
        assert_eq!(code, Some(1), "{message}");
        assert!(message.contains("all 1024 nodes") && message.contains("used up to a time after now"), "{message}");
        assert!(message.contains("the store is fenced until 20") && !message.contains("more node bits"), "{message}");
    }
}

#[test]
fn a_mistake_of_an_operator_is_reported_in_one_line() {
    for (words, expected) in [
        (&["lease", "release", "n", "0"][..], "--stopped"),
        (&["fence", "--until", "2099-01-01T00:00:00Z", "--skip", "0", "--stopped"], "add --far"),
        (&["serve", "--http", "off", "--redis", "off"], "nothing to serve"),
        (&["lease"], "a verb is needed (see snowmint lease --help)"),
        (&["serve", "--allow-origin", "example.org"], "write an origin without a path"),
        (&["serve", "--allow-host", "http://example.org"], "write a host name or an address"),
        (&["serve", "--advertise", TOO_LONG], "1 to 60 bytes long"),
    ] {
        let (code, complained) = complaint(words);
        assert_eq!(code, Some(2), "{complained}");
        assert!(complained.contains(expected), "{words:?}: {complained}");
    }
    assert!(lines(&["completions", "bash"]).len() > 50);
}
