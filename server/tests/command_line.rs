//! The command line, run as separate processes. The tests of Python and npm compare the output of all three languages.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use snowmint_core::lease::Record;
use snowmint_core::place::Variables;
use snowmint_core::{SystemHost, Window, layouts, prefix, shown};
use snowmint_stores::{Tag, connect, refuse_default_database};
use tempfile::TempDir;

const TWEET: &str = "1541815603606036480";
/// One byte above the limit.
const TOO_LONG: &str = "http://a-name-that-does-not-fit-into-the-record-of-a-section/";
const ONE_NODE: &str = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z";

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_snowmint"));
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
    child.stdin.take().expect("piped").write_all(stdin).expect("written");
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
    let told = text(&done.stderr);
    assert!(told.starts_with("snowmint: ") && told.lines().count() == 1, "{told}");
    (done.status.code(), told)
}

#[test]
fn gen_prints_increasing_ids_one_per_line() {
    let ids: Vec<u64> =
        lines(&["gen", "-n", "10000", "--node", "3"]).iter().map(|id| id.parse().expect("an ID")).collect();
    assert_eq!(ids.len(), 10_000);
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(lines(&["gen", "-n", "0", "--node", "3"]).is_empty());
    let slow = "time:32,sequence:1;epoch=2025-01-01T00:00:00Z;tick=1s";
    assert_eq!(lines(&["gen", "-n", "4", "--layout", slow, "--node", "0"]).len(), 4);
}

#[test]
fn gen_puts_a_prefix_before_each_id() {
    let minted = lines(&["gen", "-n", "3", "--node", "3", "--prefix", "api_key"]);
    let ids: Vec<u64> = minted.iter().map(|text| prefix::decode("api_key", text).expect("an API key")).collect();
    assert!(ids.is_sorted_by(|a, b| a < b) && ids.len() == 3);
    let line = &lines(&["gen", "--node", "3", "--prefix", "user", "--json"])[0];
    let told: Value = serde_json::from_str(line).expect("JSON");
    let id = told["id"].as_str().and_then(|id| id.parse::<u64>().ok()).expect("an ID");
    assert_eq!(told["text"], prefix::encode("user", id).expect("a prefix").as_str());
}

#[test]
fn mask_hides_ids_and_shows_them_again() {
    let key = ["--key", "000102030405060708090a0b0c0d0e0f"];
    let masked = lines(&[&["mask", TWEET, "0"], &key[..]].concat());
    assert_eq!(masked, ["8684110301830119334", "6851524406231690879"]);
    assert_eq!(lines(&[&["mask", "--decode", &masked[0]], &key[..]].concat()), [TWEET]);
    let done = command()
        .args(["mask", "123456789", "--digits", "10"])
        .env("SNOWMINT_MASK_KEY", "2b7e151628aed2a6abf7158809cf4f3c")
        .output()
        .expect("it runs");
    assert_eq!(text(&done.stdout), "2433477484\n");
    let uuids = ["mask", "018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f", "--key", "efcdab89674523011032547698badcfe"];
    assert_eq!(lines(&uuids), ["2463c780-7fca-4def-8c3f-7b1a2c4d5e6f"]);
    let (code, told) = complaint(&["mask", "5", "--key", "0001"]);
    assert_eq!((code, told.contains("a mask key has 32 hexadecimal digits")), (Some(2), true), "{told}");
    let (code, told) = complaint(&[&["mask", "9223372036854775808"], &key[..]].concat());
    assert_eq!((code, told.contains("cannot be masked")), (Some(2), true), "{told}");
}

#[test]
fn gen_leases_a_node_and_gives_it_back() {
    let directory = TempDir::new().expect("a directory");
    for scheme in ["file", "sqlite"] {
        let store = format!("{scheme}:{}/{scheme}", directory.path().display());
        // There is one node: a run that does not release it makes the next run fail.
        for _ in 0..3 {
            let words = ["gen", "--layout", ONE_NODE, "--store", &store, "--namespace", "n", "--max-wait-ms", "50"];
            assert_eq!(lines(&words).len(), 1);
        }
        // The namespace of the default layout is another one.
        let id = &lines(&["gen", "-n", "1", "--node", "7", "--store", &store])[0];
        let inspected = run(&["inspect", "--layout", "snowmint", id], b"").stdout;
        assert!(String::from_utf8_lossy(&inspected).contains("node 7"), "a leased node of the caller's choice");
    }
}

#[test]
fn inspect_reads_the_output_of_gen() {
    for form in ["decimal", "hex", "base32", "base36", "base58", "base62"] {
        let minted = run(&["gen", "-n", "3", "--node", "9", "--format", form], b"").stdout;
        let done = run(&["inspect", "--layout", "snowmint", "--format", form], &minted);
        let shown = text(&done.stdout);
        assert_eq!(shown.matches("  node 9  sequence ").count(), 3, "{shown}");
    }
    let told: Value =
        serde_json::from_str(&lines(&["gen", "--node", "1", "--json", "--format", "hex"])[0]).expect("JSON");
    let id: u64 = told["id"].as_str().expect("a string").parse().expect("an ID");
    assert_eq!(told["text"], format!("{id:016x}"));
}

#[test]
fn inspect_shows_the_parts_of_ids() {
    let shown = lines(&["inspect", "--layout", "twitter", TWEET]);
    assert_eq!(shown, [format!("{TWEET}  2022-06-28T16:07:40.105Z  datacenter 11  worker 26  sequence 0")]);
    let told: Value =
        serde_json::from_str(&lines(&["inspect", "--json", "--layout", "twitter", TWEET])[0]).expect("JSON");
    assert_eq!(told["fields"], json!({"time": 367_597_485_448_u64, "datacenter": 11, "worker": 26, "sequence": 0}));
    assert!(lines(&["inspect", "--layout", "mastodon", "-1"])[0].ends_with("sequence 65535"));
    assert!(lines(&["inspect", TWEET]).iter().any(|line| line.starts_with("  twitter      2022-06-28T16:07:40.105Z")));
    let unknown = run(&["inspect", "no ID at all"], b"");
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stdout).contains("nothing known"));
}

#[test]
fn a_bad_line_is_reported_and_other_lines_are_shown() {
    let done = run(&["inspect", "--layout", "twitter"], b"5\n\nnone\n 6 \r\n9999999999999999999999999999\n\xff\n");
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(text(&done.stdout).lines().count(), 2);
    let told = text(&done.stderr);
    assert_eq!(told.lines().count(), 3);
    assert!(told.contains("none: an ID is an integer") && told.contains("snowmint: \\xff: an ID is"), "{told}");
}

#[test]
fn layouts_fit_into_80_columns() {
    let shown = lines(&["layouts"]);
    assert_eq!(shown.len(), 1 + 15 + 3);
    assert!(shown.iter().all(|line| line.chars().count() <= 80));
    assert!(shown.iter().any(|line| line.split_whitespace().eq([
        "baidu",
        "TTTTTTTNNNNNNSSS",
        "4,194,304",
        "8,192",
        "2024-11-20",
        "never"
    ])));
    let picture = lines(&["layouts", "twitter", "time:40,a:1,sequence:3;epoch=0"]);
    assert!(picture.contains(&"||----------------------------------------|----|----|-----------|".to_owned()));
    assert!(picture.contains(&"  a             1  bit 3          0 to 1".to_owned()), "{picture:?}");
    let told: Value = serde_json::from_str(&lines(&["layouts", "--json", "safe53"])[0]).expect("JSON");
    assert_eq!((&told["js_safe"], &told["nodes"], &told["bits"]), (&json!(true), &json!(8), &json!(53)));
}

#[test]
fn a_mistake_is_reported_in_one_line() {
    for (words, told) in [
        (&[][..], "a verb is needed"),
        (&["mint"], "unrecognized subcommand 'mint'"),
        (&["gen", "-n", "-1"], "snowmint gen --help"),
        (&["gen", "-n", "many"], "many"),
        (&["gen", "--format", "base10"], "decimal, hex, base32"),
        (&["gen", "--prefix", "User"], "a prefix has at most 63 characters"),
        (&["gen", "--prefix", "user", "--format", "hex"], "cannot be used with"),
        (&["gen", "--layout", "twiter"], "no such preset"),
        (&["gen", "--node", "1024"], "0 to 1023"),
        (&["layouts", "time:41;epoch"], "snowmint: "),
        (&["lease", "release", "n", "0"], "--stopped"),
        (&["fence", "--until", "2099-01-01T00:00:00Z", "--skip", "0", "--stopped"], "add --far"),
        (&["serve", "--http", "off", "--redis", "off"], "nothing to serve"),
        (&["lease"], "a verb is needed (see snowmint lease --help)"),
        (&["serve", "--allow-origin", "example.org"], "write an origin without a path"),
        (&["serve", "--allow-host", "http://example.org"], "write a host name or an address"),
        (&["serve", "--advertise", TOO_LONG], "1 to 60 bytes long"),
    ] {
        let (code, complained) = complaint(words);
        assert_eq!(code, Some(2), "{complained}");
        assert!(complained.contains(told), "{words:?}: {complained}");
    }
    assert_eq!(complaint(&["gen", "--layout", "baidu", "--node", "1"]).0, Some(1));
    assert!(lines(&["--version"])[0].starts_with("snowmint "));
    assert!(lines(&["gen", "--help"]).iter().all(|line| line.chars().count() <= 100));
    assert!(lines(&["completions", "bash"]).len() > 50);
}

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
    let told = Command::new("kill").arg(child.id().to_string()).status().expect("kill");
    let rest: Vec<_> = lines.map_while(Result::ok).collect();
    assert!(told.success() && child.wait().expect("it ends").success(), "{rest:?}");
    assert!(line.contains(" INFO serving http=\"127.0.0.1:"), "{line}");
    assert!(line.contains(file.to_str().expect("text")) && file.exists(), "{line}");

    let homeless = Command::new(env!("CARGO_BIN_EXE_snowmint")).args(words).env_clear().output().expect("it runs");
    let told = text(&homeless.stderr);
    assert_eq!(homeless.status.code(), Some(2), "{told}");
    assert!(told.contains("--store sqlite:PATH"), "{told}");
}

#[test]
fn closed_output_is_not_an_error() {
    let mut child = command()
        .args(["gen", "-n", "1000000", "--node", "2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let mut told = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut told).expect("text");
    assert_eq!((child.wait().expect("it ends").code(), told.as_str()), (Some(0), ""));
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
    assert_eq!(ls.len(), 2);
    assert!(ls[1].starts_with("orders ") && ls[1].contains("given back"), "{ls:?}");
    let far = ["lease", "release", "orders", "0", "--until", "2099-01-01T00:00:00Z", "--stopped", "--store", &store];
    assert!(lines(&far)[1].contains("far ahead"));
    let told: Value =
        serde_json::from_str(&lines(&["lease", "ls", "orders", "--json", "--store", &store])[0]).expect("JSON");
    assert_eq!((&told["node"], &told["state"]), (&json!(0), &json!("far ahead")));
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
    let layout = layouts::SNOWMINT.numbers().identity();
    let record = Record { released: false, serial: 1, window, nonce: 5, label, layout };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let store = connect(store).await.expect("a store");
        let text = format!("{} nodes=1", layouts::SNOWMINT);
        store.write(&format!("layouts/{namespace}"), text.as_bytes(), 0).await.expect("written");
        store.write(&format!("leases/{namespace}/0"), &record.to_bytes(), 0).await.expect("written");
        let tag = Tag { next: 1, step: 10, description: String::new() };
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
        (&["lease", "ls"][..], 0, 2, true),
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
        let told = text(&done.stdout) + &text(&done.stderr);
        assert_eq!(done.status.code(), Some(code), "{words:?}: {told}");
        assert!(!told.replace('\n', "").contains(shown::is_hidden), "{words:?}: {told:?}");
        assert_eq!((told.lines().count(), told.contains(ESCAPED)), (lines, is_shown), "{words:?}: {told}");
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
    let names: Vec<_> = ls.iter().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["namespace", "@327e-a00c-627c", "@snowmint", "@twitter", long]);
    let states: Vec<_> = ls[1..].iter().map(|line| line.find("given back")).collect();
    assert_eq!(states, [ls[0].find("state"); 4], "{ls:#?}");
    assert_eq!(lines(&["lease", "ls", "@twitter", "--store", &store]).len(), 2);
}

#[test]
fn an_operator_lists_slots_and_resets_a_far_one() {
    let directory = TempDir::new().expect("a directory");
    let store = format!("file:{}", directory.path().display());
    let slots = ["--store", &store, "--namespace", "orders", "--layout", "time:41,sequence:12;epoch=1735689600000"];
    let gen_on = |clock: &str| {
        let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
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
    let (code, told) = complaint(&[&["gen"], &slots[..]].concat());
    assert_eq!(code, Some(1), "{told}");
    let named = format!("snowmint lease --store {store} release NAMESPACE NODE --stopped");
    assert!(told.contains(&named) && told.contains(&format!("snowmint lease --store {store} ls")), "{told}");

    let ls = lines(&["lease", "--store", &store, "ls"]);
    assert!(ls.len() == 2 && ls[1].contains("orders") && ls[1].contains("far ahead"), "{ls:?}");
    assert!(ls[1].contains("snowmint:"), "the holder: {ls:?}");
    assert!(!directory.path().join(".store").exists(), "a list of slots creates no store");
    assert_eq!(complaint(&["lease", "--store", &store, "release", "orders", "7", "--stopped"]).0, Some(2));
    let reset = lines(&["lease", "--store", &store, "release", "orders", "0", "--stopped"]);
    assert!(reset[1].contains("free"), "{reset:?}");
    lines(&[&["gen"], &slots[..]].concat());
    let told: Value = serde_json::from_str(&lines(&["lease", "--store", &store, "ls", "--json"])[0]).expect("JSON");
    assert_eq!((&told["node"], &told["state"]), (&json!(0), &json!("free")));
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
    let (code, told) = complaint(&["lease", "--store", &store, "release", "orders", "0", "--stopped"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("is held by snowmint:") && told.contains("stop it first"), "{told}");
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
    let (code, told) = fence(&[]);
    assert!(code == Some(1) && told.contains("is this the restored one?") && told.contains("--empty"), "{told}");

    let mut holder = command()
        .args(["gen", "-n", "100000000", "--store", &store, "--namespace", "orders"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    BufReader::new(holder.stdout.as_mut().expect("piped")).read_line(&mut String::new()).expect("a line");
    let (code, told) = fence(&[]);
    assert!(code == Some(2) && told.contains("namespace orders, held by snowmint:"), "{told}");
    assert!(told.contains("node 0 may have a live holder") && told.contains("snowmint lease release"), "{told}");
    holder.kill().expect("it is killed");
    holder.wait().expect("it ends");
    lines(&["lease", "release", "orders", "0", "--stopped", "--store", &store]);

    for early in ["2026-01-01T00:00:00Z", "0"] {
        let (code, told) = fence(&["--until", early]);
        assert!(code == Some(2) && told.contains("too early"), "{told}");
    }
    let now_ms = SystemHost::unix_ms();
    let short = until(&["--max-window-ms", "2000"]);
    assert!((now_ms + 2000..now_ms + 60_000).contains(&short), "{short} at {now_ms}");
    let auto = until(&[]);
    assert!((now_ms + 3_600_000..now_ms + 3_660_000).contains(&auto), "{auto} at {now_ms}");
    // The first fence is a window that the store knows.
    let (_, told) = fence(&["--until", &(auto - 1).to_string()]);
    assert!(told.contains("too early"), "{told}");
    assert_eq!(until(&["--until", &(auto + 1).to_string()]), auto + 1);
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
        let (code, told) = complaint(&["gen", "--store", &store, "--namespace", namespace]);
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains("all 1024 nodes") && told.contains("used up to a time after now"), "{told}");
        assert!(told.contains("the store is fenced until 20") && !told.contains("more node bits"), "{told}");
    }
}

#[test]
fn a_doctor_tells_what_a_generator_would_do() {
    let directory = TempDir::new().expect("a directory");
    let slots = directory.path().join("slots");
    let store = format!("file:{}?allow_unsafe=true", slots.display());
    let told = lines(&["doctor", "--store", &store, "--namespace", "orders"]);
    assert!(told[0].starts_with("ok    layout      snowmint: 1,024 nodes"), "{told:?}");
    assert!(told[1].ends_with(", by --store; the first lease makes the directory"), "{told:?}");
    assert_eq!(told.last().expect("a node"), "ok    node        a claim gets node 0: 1,024 of 1,024 nodes are free");
    assert!(!slots.exists());
    let json = |words: &[&str]| -> (Option<i32>, Vec<Value>) {
        let done = run(&[&["doctor", "--json"], words].concat(), b"");
        assert!(done.stderr.is_empty(), "{done:?}");
        (done.status.code(), text(&done.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
    };
    let (code, found) = json(&["--node", "5"]);
    assert_eq!((code, &found[1]["level"], &found[1]["node"]), (Some(0), &json!("note"), &json!(5)));
    let (code, found) = json(&["--store", "postgres://me:secret@127.0.0.1:1/ids"]);
    assert_eq!((code, &found[1]["level"], &found[1]["topic"]), (Some(1), &json!("mend"), &json!("store")));
    assert!(!found[1].to_string().contains("secret"), "{found:?}");
    assert_eq!(complaint(&["doctor", "--node", "1024"]).0, Some(2));
    assert_eq!(complaint(&["doctor", "--layout", "none"]).0, Some(2));
    let mut pod = command();
    let refused = pod.arg("doctor").env("KUBERNETES_SERVICE_HOST", "10.0.0.1").output().expect("it runs");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stdout).contains("\nmend  node        in Kubernetes /var/tmp/snowmint is private to each pod")
    );
}
