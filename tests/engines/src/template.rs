//! Data directories of new servers, made once and copied.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::engine::{Engine, run};

/// Held while a template is made: the threads of one process wait for the first of them.
static MAKING: Mutex<()> = Mutex::new(());

/// Copies the engine's new data directory into `directory`. The first call makes it, which takes `initdb` seconds.
pub fn copy_into(engine: Engine, directory: &Path) {
    let template = template(engine);
    run(Command::new("cp").args(["-a", "--reflink=auto", "--sparse=always"]).arg(template.join("data")).arg(directory));
}

/// The template of the installed version of the engine, below `target/`.
fn template(engine: Engine) -> PathBuf {
    let mut version = DefaultHasher::new();
    let said = Command::new(engine.program()).arg("--version").output().expect("the engine is installed");
    said.stdout.hash(&mut version);
    engine.account().hash(&mut version);
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"), PathBuf::from);
    let template = target.join("engines").join(format!("{}-{:016x}", engine.name(), version.finish()));
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if !template.exists() {
        // A server that refuses root needs a path that its account can reach, which a checkout may not be.
        let made = tempfile::TempDir::new().expect("a temporary directory");
        engine.hand_over(made.path());
        engine.prepare(made.path());
        let unfinished = template.with_extension(std::process::id().to_string());
        fs::create_dir_all(&unfinished).expect("target/ can be written");
        run(Command::new("cp").arg("-a").arg(made.path().join("data")).arg(&unfinished));
        // Two processes may do this at the same time: the first one's template stays.
        if fs::rename(&unfinished, &template).is_err() {
            fs::remove_dir_all(&unfinished).expect("it is ours");
        }
    }
    template
}
