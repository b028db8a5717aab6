//! The verbs of the program and of the packages.

#[cfg(target_os = "linux")]
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use snowmint_core::prefix;
use tempfile::TempDir;

#[cfg(target_os = "linux")]
use super::{CLEARED, examples, on_terminal, run_script};
use super::{command, complaint, lines, packaged, run, text};

const TWEET: &str = "1541815603606036480";
const ONE_NODE: &str = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z";

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
fn gen_leases_any_node_with_a_given_part() {
    let directory = TempDir::new().expect("a directory");
    let store = format!("file:{}", directory.path().display());
    let options = ["--layout", "twitter", "--node", "datacenter=3", "--namespace", "orders", "--store", &store];
    let id: u64 = lines(&[["gen"].as_slice(), &options].concat())[0].parse().expect("an ID");
    assert_eq!((id >> 17) & 31, 3);
}

#[test]
fn gen_puts_a_prefix_before_each_id() {
    let minted = lines(&["gen", "-n", "3", "--node", "3", "--prefix", "api_key"]);
    let ids: Vec<u64> = minted.iter().map(|text| prefix::decode("api_key", text).expect("an API key")).collect();
    assert!(ids.is_sorted_by(|a, b| a < b) && ids.len() == 3);
    let line = &lines(&["gen", "--node", "3", "--prefix", "user", "--json"])[0];
    let body: Value = serde_json::from_str(line).expect("JSON");
    let id = body["id"].as_str().and_then(|id| id.parse::<u64>().ok()).expect("an ID");
    assert_eq!(body["text"], prefix::encode("user", id).expect("a prefix").as_str());
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
    let (code, message) = complaint(&["mask", "5", "--key", "0001"]);
    assert_eq!((code, message.contains("a mask key has 32 hexadecimal digits")), (Some(2), true), "{message}");
    let (code, message) = complaint(&[&["mask", "9223372036854775808"], &key[..]].concat());
    assert_eq!((code, message.contains("cannot be masked")), (Some(2), true), "{message}");
}

#[test]
fn gen_leases_a_node_and_gives_it_back() {
    let directory = TempDir::new().expect("a directory");
    // A package has stores that its language connects to.
    for scheme in &["file", "sqlite"][..if packaged().is_some() { 1 } else { 2 }] {
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
    let body: Value =
        serde_json::from_str(&lines(&["gen", "--node", "1", "--json", "--format", "hex"])[0]).expect("JSON");
    let id: u64 = body["id"].as_str().expect("a string").parse().expect("an ID");
    assert_eq!(body["text"], format!("{id:016x}"));
}

#[test]
fn inspect_shows_the_parts_of_ids() {
    let shown = lines(&["inspect", "--layout", "twitter", TWEET]);
    assert_eq!(shown, [format!("{TWEET}  2022-06-28T16:07:40.105Z  datacenter 11  worker 26  sequence 0")]);
    let body: Value =
        serde_json::from_str(&lines(&["inspect", "--json", "--layout", "twitter", TWEET])[0]).expect("JSON");
    assert_eq!(body["fields"], json!({"time": 367_597_485_448_u64, "datacenter": 11, "worker": 26, "sequence": 0}));
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
    let message = text(&done.stderr);
    assert_eq!(message.lines().count(), 3);
    assert!(
        message.contains("none: an ID is an integer") && message.contains("snowmint: \\xff: an ID is"),
        "{message}"
    );
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
    let body: Value = serde_json::from_str(&lines(&["layouts", "--json", "safe53"])[0]).expect("JSON");
    assert_eq!((&body["js_safe"], &body["nodes"], &body["bits"]), (&json!(true), &json!(8), &json!(53)));
}

#[test]
fn a_mistake_is_reported_in_one_line() {
    for (words, expected) in [
        (&[][..], "a verb is needed"),
        (&["mint"], "unrecognized subcommand 'mint' (see snowmint --help)"),
        (&["gen", "-n", "-1"], "snowmint gen --help"),
        (&["gen", "-n", "many"], "many"),
        (&["gen", "--format", "base10"], "decimal, hex, base32"),
        (&["gen", "--prefix", "User"], "a prefix has at most 63 characters"),
        (&["gen", "--prefix", "user", "--format", "hex"], "cannot be used with"),
        (&["gen", "--layout", "twiter"], "no such preset"),
        (&["gen", "--node", "1024"], "0 to 1023"),
        (&["layouts", "time:41;epoch"], "snowmint: "),
        (&["sequence"], "snowmint sequence --help"),
        (&["sequence", "virtual", "seq_1_to_5_step_0"], "the name of a range is seq_A_to_B or seq_A_to_B_step_S"),
    ] {
        let (code, complained) = complaint(words);
        assert_eq!(code, Some(2), "{complained}");
        assert!(complained.contains(expected), "{words:?}: {complained}");
    }
    assert_eq!(complaint(&["gen", "--layout", "baidu", "--node", "1"]).0, Some(1));
    assert!(lines(&["--version"])[0].starts_with("snowmint "));
}

#[test]
fn a_mistyped_name_is_answered_with_similar_names() {
    for (words, expected) in [
        (&["audti"][..], "subcommand 'audti'; a similar subcommand exists: 'audit' (see snowmint --help)"),
        (&["serv"], "'serv'; a similar subcommand exists: 'serve' (see snowmint --help)"),
        (&["sequence", "sho", "n"], "'sho'; a similar subcommand exists: 'show' (see snowmint sequence --help)"),
        (&["gen", "--cout", "3"], "'--cout' found; a similar argument exists: '--count' (see snowmint gen --help)"),
        (&["inspect", "--layuot", "x", "5"], "; a similar argument exists: '--layout' (see snowmint inspect --help)"),
        (&["audit", "--jitter", "5"], "; a similar argument exists: '--jitter-ms' (see snowmint audit --help)"),
        (&["frob"], "unrecognized subcommand 'frob' (see snowmint --help)"),
        (&["inspect", "--frob"], "unexpected argument '--frob' found (see snowmint inspect --help)"),
    ] {
        let (code, complained) = complaint(words);
        assert_eq!(code, Some(2), "{complained}");
        assert!(complained.contains(expected), "{words:?}: {complained}");
    }
}

#[test]
fn sequence_virtual_lists_the_numbers_of_a_name() {
    assert_eq!(lines(&["sequence", "virtual", "seq_1_to_15_step_3"]), ["1", "4", "7", "10", "13"]);
    assert_eq!(lines(&["sequence", "virtual", "seq_3_to_1"]), ["3", "2", "1"]);
    let json = lines(&["sequence", "virtual", "seq_18446744073709551615_to_18446744073709551615", "--json"]);
    assert_eq!(json, [r#"{"id": "18446744073709551615"}"#]);
    let many = lines(&["sequence", "virtual", "seq_1_to_10000"]);
    assert_eq!((many.len(), many[9999].as_str()), (10_000, "10000"));
}

#[test]
fn closed_output_is_not_an_error() {
    for words in [
        &["gen", "-n", "1000000", "--node", "2"][..],
        // Nobody waits for the end of these.
        &["sequence", "virtual", "seq_0_to_18446744073709551615"],
    ] {
        let mut child = command().args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let mut output = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut output).expect("text");
        assert_eq!((child.wait().expect("it ends").code(), output.as_str()), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn a_doctor_says_what_a_generator_would_do() {
    let directory = TempDir::new().expect("a directory");
    let slots = directory.path().join("slots");
    let store = format!("file:{}?allow_unsafe=true", slots.display());
    let output = lines(&["doctor", "--store", &store, "--namespace", "orders"]);
    assert!(output[0].starts_with("ok       layout      snowmint: 1,024 nodes"), "{output:?}");
    assert!(output[1].ends_with(", by --store; the first lease makes the directory"), "{output:?}");
    assert_eq!(
        output.last().expect("a node"),
        "ok       node        a claim gets node 0: 1,024 of 1,024 nodes are free"
    );
    assert!(!slots.exists());
    let json = |words: &[&str]| -> (Option<i32>, Vec<Value>) {
        let done = run(&[&["doctor", "--json"], words].concat(), b"");
        assert!(done.stderr.is_empty(), "{done:?}");
        (done.status.code(), text(&done.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
    };
    let (code, found) = json(&["--node", "5"]);
    assert_eq!((code, &found[1]["level"], &found[1]["node"]), (Some(0), &json!("warning"), &json!(5)));
    let (code, found) = json(&["--store", "postgres://me:secret@127.0.0.1:1/ids"]);
    assert_eq!((code, &found[1]["level"], &found[1]["topic"]), (Some(1), &json!("error"), &json!("store")));
    assert!(!found[1].to_string().contains("secret"), "{found:?}");
    assert_eq!(complaint(&["doctor", "--node", "1024"]).0, Some(2));
    assert_eq!(complaint(&["doctor", "--layout", "none"]).0, Some(2));
    let mut pod = command();
    let refused = pod.arg("doctor").env("KUBERNETES_SERVICE_HOST", "10.0.0.1").output().expect("it runs");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stdout).contains("\nerror    node        in Kubernetes /var/tmp/snowmint is private to each pod")
    );
}

/// Returns the command with the default effect of an interrupt, which a shell in the background turns off.
#[cfg(target_os = "linux")]
fn interruptible() -> Command {
    let plain = command();
    let mut words = Command::new("env");
    words.arg("--default-signal=INT").arg(plain.get_program()).args(plain.get_args());
    for (name, _) in plain.get_envs() {
        words.env_remove(name);
    }
    words
}

#[cfg(target_os = "linux")]
#[test]
fn gen_waits_for_room_in_a_pipe_that_does_not_block() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    rustix::io::ioctl_fionbio(&writer, true).expect("a pipe that does not block");
    let words = ["gen", "--node", "1", "-n", "20000"];
    let child = command().args(words).stdout(writer).stderr(Stdio::piped()).spawn().expect("it starts");
    // One batch is more than a pipe holds.
    while rustix::io::ioctl_fionread(&reader).expect("a pipe") < 60_000 {
        std::thread::yield_now();
    }
    let count = BufReader::new(reader).lines().map_while(Result::ok).count();
    let done = child.wait_with_output().expect("it ends");
    assert_eq!((count, done.status.code(), text(&done.stderr).as_str()), (20_000, Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_gen_and_gives_the_lease_back() {
    let directory = TempDir::new().expect("a directory");
    let store = format!("file:{}/slots?allow_unsafe=true", directory.path().display());
    let words = ["gen", "--layout", ONE_NODE, "--store", &store, "--max-wait-ms", "60000"];
    let mut child =
        interruptible().args(words).args(["-n", "1000000000"]).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    out.read_line(&mut String::new()).expect("a line");
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    let rest = out.lines().map_while(Result::ok).count();
    assert_eq!((killed.success(), child.wait().expect("it ends").code()), (true, Some(130)), "after {rest} lines");
    // The layout has one node.
    assert_eq!(lines(&words).len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_a_verb_that_waits_for_lines() {
    for verb in ["inspect", "audit"] {
        let mut child =
            interruptible().arg(verb).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut input = child.stdin.take().expect("piped");
        input.write_all(b"1541815603606036480\n").expect("written");
        if verb == "inspect" {
            let mut line = String::new();
            BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a line");
        }
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
        assert!(killed.success() && !child.wait().expect("it ends").success(), "{verb}");
        drop(input);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_in_one_line() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
    let silent = command().arg("mint").stderr(full.try_clone().expect("a second handle")).status().expect("it runs");
    assert_eq!(silent.code(), Some(2), "a message that nobody can read is no panic");
    let done = command().args(["gen", "--node", "1"]).stdout(full).output().expect("it runs");
    let message = text(&done.stderr);
    assert_eq!((done.status.code(), message.lines().count()), (Some(1), 1), "{message}");
    assert!(message.starts_with("snowmint: "), "{message}");
}

#[test]
fn the_help_has_one_line_for_each_verb() {
    let help = lines(&["--help"]);
    assert!(help.iter().all(|line| line.chars().count() <= 80), "{help:#?}");
    let verbs = help.iter().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let starts: Vec<_> = verbs.map(|line| line.find(|letter: char| letter != ' ')).collect();
    assert!(starts.len() >= 8 && starts.iter().all(|start| *start == Some(2)), "{help:#?}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_examples_in_the_help_run() {
    let directory = TempDir::new().expect("a directory");
    let store = format!("file:{}/slots?allow_unsafe=true", directory.path().display());
    let script: Vec<_> = ["gen", "inspect", "layouts", "doctor", "audit", "mask", "sequence"].map(examples).into();
    let ids = "snowmint gen -n 9 --node 1 > ids.txt\n(echo id; cat ids.txt) > orders.csv\n";
    // `sequence` of the program needs a store for numbers.
    let script = script[..if packaged().is_some() { 7 } else { 6 }].join("\n");
    run_script(&format!("{ids}{script}"), directory.path(), &store);
    assert!(directory.path().join("audit.svg").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_the_progress_of_a_long_verb() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("ids");
    let words = ["gen", "-n", "500000", "--node", "1"];
    let shown = on_terminal(&words, Some(File::create(&path).expect("a file")));
    assert!(shown.contains(" of 500,000 IDs, ") && shown.ends_with(CLEARED), "{shown:?}");
    let ids = fs::read_to_string(&path).expect("IDs");
    assert!(ids.lines().count() == 500_000 && ids.lines().all(|id| id.parse::<u64>().is_ok()));
    let shown = on_terminal(&["audit", path.to_str().expect("text")], None);
    assert!(shown.contains(" MiB, ") && shown.contains("looking for faults"), "{shown:?}");
    assert!(shown.contains(&format!("{CLEARED}500,000 IDs of snowmint, 1 node")), "{shown:?}");

    let shown = on_terminal(&["gen", "-n", "300000", "--node", "1"], None);
    assert!(shown.lines().all(|line| line.parse::<u64>().is_ok()), "only IDs are on the terminal that has them");
    let shown = on_terminal(&["gen", "-n", "5", "--node", "1"], Some(File::create(&path).expect("a file")));
    assert_eq!(shown, "", "a short count has no line");
}
