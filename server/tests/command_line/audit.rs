//! `snowmint audit` over files with prepared faults. Real generators mint the IDs by a scripted clock.
//!
//! `SNOWMINT_AUDIT_IDS=10000000` makes the files that large.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use snowmint_core::layouts::{INSTAGRAM, SNOWMINT, TWITTER};
use snowmint_core::{Layout, Parts, SequenceStart};
use snowmint_tests::scripted::{Minter, scattered};
use tempfile::TempDir;

use super::{run, text};

/// 2026-03-01.
const NOW_MS: i64 = 1_772_323_200_000;
const NODES: u32 = 8;
/// The node with the fault.
const FAULTY: u32 = 3;

/// How many IDs each file has, about.
fn size() -> u64 {
    std::env::var("SNOWMINT_AUDIT_IDS").map_or(100_000, |text| text.parse().expect("a number"))
}

fn minter(layout: &Layout, node: u32) -> Minter {
    Minter::new(layout, node, SequenceStart::Zero)
}

/// Mints the IDs of eight nodes in order, but `fault` adds the IDs of one node. The arguments of `fault` are the ms
/// since the first ID, the ms that all IDs take, and the IDs.
fn fleet(layout: &Layout, mut fault: impl FnMut(i64, i64, &mut Vec<u64>)) -> Vec<u64> {
    let minters: Vec<_> = (0..NODES).map(|node| minter(layout, node)).collect();
    let mut ids = Vec::new();
    // 16 IDs in a ms.
    let all_ms = i64::try_from(size() / 16).expect("small");
    for ms in 0..all_ms {
        for _ in 0..16 {
            let node = u32::try_from(scattered(ids.len() as u64) % u64::from(NODES)).expect("small");
            if node == FAULTY {
                fault(ms, all_ms, &mut ids);
            } else {
                ids.push(minters[node as usize].id(NOW_MS + ms));
            }
        }
    }
    ids
}

fn clean(layout: &Layout) -> Vec<u64> {
    let minter = minter(layout, FAULTY);
    fleet(layout, |ms, _, ids| ids.push(minter.id(NOW_MS + ms)))
}

fn shared_worker() -> Vec<u64> {
    let (first, second) = (minter(&SNOWMINT, FAULTY), minter(&SNOWMINT, FAULTY));
    fleet(&SNOWMINT, |ms, _, ids| {
        let by = if scattered(ids.len() as u64 + 7).is_multiple_of(3) { &second } else { &first };
        ids.push(by.id(NOW_MS + ms));
    })
}

fn clock_stepped_back() -> Vec<u64> {
    let (before, after) = (minter(&SNOWMINT, FAULTY), minter(&SNOWMINT, FAULTY));
    fleet(&SNOWMINT, |ms, all_ms, ids| {
        ids.push(if ms < all_ms / 2 { before.id(NOW_MS + ms) } else { after.id(NOW_MS + ms - 1000) });
    })
}

fn wrapped_sequence() -> Vec<u64> {
    // As `nextval('seq') % 1024`, with bursts of 2,000 IDs in a ms.
    let mut next = 0;
    let mut mint = move |ms: i64| {
        let parts = Parts { timestamp_ms: NOW_MS + ms, node: FAULTY, sequence: next % 1024, ..Parts::default() };
        next += 1;
        INSTAGRAM.encode(&parts).expect("an ID")
    };
    fleet(&INSTAGRAM, |ms, _, ids| {
        let count = if ms % 1000 == 999 { 1000 } else { 1 };
        ids.extend((0..count).map(|_| mint(ms)));
    })
}

fn forked_generator() -> Vec<u64> {
    let parent = minter(&SNOWMINT, FAULTY);
    let mut child = None;
    fleet(&SNOWMINT, |ms, all_ms, ids| {
        ids.push(parent.id(NOW_MS + ms));
        if ms >= all_ms / 2 {
            ids.push(child.get_or_insert_with(|| parent.fork()).id(NOW_MS + ms));
        }
    })
}

/// The layout and its IDs, which go on at the epoch after its last tick.
fn ended_layout() -> (Layout, Vec<u64>) {
    let layout = Layout::parse("unused:1,time:31,node:10,sequence:12;epoch=2026-01-01T00:00:00Z").expect("a layout");
    let (before, after) = (minter(&layout, 1), minter(&layout, 1));
    let half = i64::try_from(size() / 2).expect("small");
    let last = (1 - half..=0).map(|ms| before.id(layout.ends_at_ms() + ms));
    let wrapped = (0..half).map(|ms| after.id(layout.epoch_ms() + ms));
    (layout, last.chain(wrapped).collect())
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the fault")]
fn truncated_ids() -> Vec<u64> {
    // Sequences of a busy generator: a double rounds some of them up, which no other fault does.
    let busy = |(number, id): (usize, u64)| (id & !0xfff) | (number as u64 % 0x1000);
    clean(&TWITTER).into_iter().enumerate().map(busy).map(|id| id as f64 as u64).collect()
}

fn written(directory: &Path, name: &str, ids: &[u64]) -> PathBuf {
    let path = directory.join(name);
    let mut text = String::with_capacity(ids.len() * 20);
    for id in ids {
        text.push_str(&id.to_string());
        text.push('\n');
    }
    fs::write(&path, text).expect("written");
    path
}

fn audit(words: &[&str], stdin: &[u8]) -> Output {
    run(&[&["audit"], words].concat(), stdin)
}

/// Audits a file, and returns the exit code and the kinds of the findings with their nodes.
fn found(path: &Path, layout: &str) -> (Option<i32>, Vec<(String, Option<u64>)>) {
    let done = audit(&["--json", "--layout", layout, path.to_str().expect("text")], b"");
    assert!(done.stderr.is_empty(), "{}", text(&done.stderr));
    let report: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let findings = report["findings"].as_array().expect("a list").iter();
    let kinds = findings.map(|each| (each["kind"].as_str().expect("a kind").to_owned(), each["node"].as_u64()));
    (done.status.code(), kinds.collect())
}

#[test]
fn a_clean_file_has_no_finding() {
    let directory = TempDir::new().expect("a directory");
    let path = written(directory.path(), "clean", &clean(&SNOWMINT));
    assert_eq!(found(&path, "snowmint"), (Some(0), vec![]));
}

#[test]
fn each_of_six_prepared_faults_is_found() {
    let directory = TempDir::new().expect("a directory");
    let check = |name: &str, layout: &str, ids: Vec<u64>, node: Option<u32>| {
        let path = written(directory.path(), name, &ids);
        drop(ids);
        let (code, kinds) = found(&path, layout);
        fs::remove_file(path).expect("removed");
        assert_eq!(code, Some(1), "{name}");
        assert_eq!(kinds[0], (name.to_owned(), node.map(u64::from)), "{name}: {kinds:?}");
        assert!(kinds[1..].iter().all(|(kind, _)| kind == "duplicates"), "{name}: {kinds:?}");
    };
    check("shared_node", "snowmint", shared_worker(), Some(FAULTY));
    check("clock_back", "snowmint", clock_stepped_back(), Some(FAULTY));
    check("wrapped", "instagram", wrapped_sequence(), Some(FAULTY));
    check("forked", "snowmint", forked_generator(), Some(FAULTY));
    let (layout, ids) = ended_layout();
    check("layout_ended", &layout.to_string(), ids, None);
    check("truncated", "twitter", truncated_ids(), None);
}

const TWO: &str = "176477214392320000\n176477214392320001\n";

#[test]
fn wrong_lines_are_reported_and_passed_over() {
    let done = audit(&["--unordered"], format!("{TWO}\nid 5\n {} \r\n\u{7}\n-1x\n", "176477214392320002").as_bytes());
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stdout).starts_with("3 IDs of snowmint, 1 node, in no order"), "{}", text(&done.stdout));
    assert!(text(&done.stdout).contains("\n3 lines are not an ID\n"));
    let message = text(&done.stderr);
    assert_eq!(message.lines().count(), 3, "{message}");
    assert!(message.starts_with("snowmint: line 4: \"id 5\": an ID is an integer"), "{message}");
    assert!(message.contains("line 6: \"\\u{7}\""), "{message}");
    // A finding names the line of the input.
    let done = audit(&["--json"], b"\n\n176477214392320000\n\n176477214392320000\n");
    let report: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!((&report["findings"][0]["kind"], &report["findings"][0]["line"]), (&"duplicates".into(), &3.into()));
}

#[test]
fn an_input_without_an_id_is_wrong() {
    let complaint = |words: &[&str], stdin: &[u8]| {
        let done = audit(words, stdin);
        assert!(done.stdout.is_empty() && done.status.code() == Some(2), "{done:?}");
        let message = text(&done.stderr);
        assert!(message.starts_with("snowmint: ") && message.lines().count() == 1, "{message}");
        message
    };
    assert!(complaint(&[], b"").contains("there is no ID"));
    assert!(complaint(&[], b"id\n").contains("line 1: \"id\": an ID is an integer"));
    assert!(complaint(&[], "no ID\n".repeat(1_000_000).as_bytes()).contains("--column names a column"));
    assert!(complaint(&["--layout", "none"], b"5\n").contains("no such preset"));
    assert!(complaint(&["--since", "yesterday"], b"5\n").contains("RFC 3339"));
    let backwards = complaint(&["--since", "2026-01-02T00:00:00Z", "--until", "1767225600000"], b"5\n");
    assert!(
        backwards.contains("--since 2026-01-02T00:00:00.000Z is later than --until 2026-01-01T00:00:00.000Z"),
        "{backwards}"
    );
    assert!(complaint(&["/no/such/file"], b"").contains("/no/such/file: "));
    let message = complaint(&["--column", "id"], b"order,total\n5,7\n");
    assert!(message.contains("no column \"id\": --column takes one of \"order\", \"total\""), "{message}");
}

#[test]
fn a_column_of_csv_is_read_with_any_usual_delimiter() {
    for delimiter in [",", ";", "\t"] {
        let rows = "id,note\n\"176477214392320000\",\"a,b\nc\"\n176477214392320001,\n,\nx,y\n176477214392320001,z\n";
        let csv = rows.replace("a,b", "a-b").replace(',', delimiter);
        let done = audit(&["--column", "id", "--json"], csv.as_bytes());
        let report: Value = serde_json::from_slice(&done.stdout).expect("JSON");
        assert_eq!((&report["ids"], &report["unreadable"]), (&3.into(), &1.into()), "{report}");
        assert_eq!(report["findings"][0]["line"], 4, "the header and the quoted line end count: {report}");
        assert!(text(&done.stderr).starts_with("snowmint: line 6: \"x\": an ID is"), "{}", text(&done.stderr));
        assert_eq!(done.status.code(), Some(2));
    }
}

#[test]
fn ids_are_read_in_every_text_form() {
    for form in ["decimal", "hex", "base32", "base36", "base58", "base62"] {
        let minted = run(&["gen", "-n", "100", "--node", "3", "--format", form], b"");
        let done = audit(&["--format", form], &minted.stdout);
        assert!(done.status.success() && text(&done.stdout).starts_with("100 IDs of snowmint, 1 node"), "{done:?}");
    }
    let done = audit(&["--prefix", "user"], b"user_04wmq3j0wd000\nuser_04wmq3j0wd001\nteam_04wmq3j0wd001\n");
    assert!(text(&done.stderr).contains("line 3: \"team_04wmq3j0wd001\": the prefix of the ID is"), "{done:?}");
}

#[test]
fn the_picture_marks_findings_and_suits_light_and_dark() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("audit.svg");
    let done = audit(&["--svg", path.to_str().expect("text")], TWO.repeat(2).as_bytes());
    assert_eq!(done.status.code(), Some(1));
    let svg = fs::read_to_string(path).expect("an SVG");
    assert!(svg.contains("prefers-color-scheme:dark") && svg.contains(">duplicates</tspan>"), "{svg}");
    let done = audit(&["--svg", "/no/such/directory/a.svg"], TWO.as_bytes());
    assert_eq!((done.status.code(), text(&done.stderr).contains("/no/such/directory/a.svg: ")), (Some(1), true));
}

#[test]
fn a_parquet_file_is_refused_with_a_way_out() {
    let done = audit(&["--column", "id"], b"PAR1....PAR1");
    assert_eq!(done.status.code(), Some(2));
    assert!(
        text(&done.stderr).contains("the input is a Parquet file: export the column with the IDs as CSV"),
        "{done:?}"
    );
}
