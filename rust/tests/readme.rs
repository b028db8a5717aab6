//! The lines that READMEs show first.

use std::path::Path;
use std::process::Command;

#[test]
fn the_first_lines_of_both_readmes_mint_an_id() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lines = include_str!("../examples/first.rs").split_once("\n\n").expect("lines after the comment").1;
    for readme in ["README.md", "../README.md"] {
        let text = std::fs::read_to_string(here.join(readme)).expect(readme);
        let shown = text.split("```rust").nth(1).and_then(|rest| rest.split("```").next()).expect(readme);
        assert_eq!(shown.split_once('\n').expect(readme).1, lines, "{readme}");
    }
    let slots = tempfile::tempdir().expect("a directory");
    // `cargo test` has built the example, unless the command line names this test alone.
    let program = std::env::current_exe().expect("this program");
    let built = program.parent().and_then(Path::parent).expect("target/PROFILE/deps").join("examples/first");
    let mut first = Command::new(env!("CARGO"));
    if built.exists() {
        first = Command::new(built);
    } else {
        first.args(["run", "--quiet", "--offline", "--example", "first"]);
    }
    let minted = first
        .current_dir(here)
        .env_remove("SNOWMINT_NODE")
        .env_remove("SNOWMINT_STORE")
        .env("SNOWMINT_STATE_DIR", slots.path())
        .output()
        .expect("cargo runs");
    let message = String::from_utf8_lossy(&minted.stderr);
    let id: snowmint::Id =
        String::from_utf8_lossy(&minted.stdout).trim().parse().unwrap_or_else(|_| panic!("{message}"));
    assert_eq!(snowmint::layouts::SNOWMINT.decode(id).expect("an ID").node, 0);
}
