//! A disk or a store that freezes: leases on other stores continue, and every wait ends.
#![cfg(target_os = "linux")]

#[path = "support.rs"]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use snowmint::{ErrorKind, LeaseOptions, Snowflake};
use tempfile::TempDir;

/// How long a test waits for a step that takes no time when all is well.
const HANG_TIMEOUT: Duration = Duration::from_secs(20);

/// A separate disk that can be frozen: each write to it waits, as during a snapshot of the machine.
struct Disk {
    directory: TempDir,
    /// A process that thaws the disk when the test ends or hangs.
    watchdog: Option<Child>,
}

fn succeed(command: &mut Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Disk {
    fn new() -> Self {
        let disk = Self { directory: TempDir::new().expect("a directory"), watchdog: None };
        let image = disk.directory.path().join("image");
        fs::File::create(&image).and_then(|image| image.set_len(32 << 20)).expect("an image");
        fs::create_dir(disk.path()).expect("made");
        succeed(Command::new("mkfs.ext4").arg("-q").arg(&image));
        succeed(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(disk.path()));
        disk
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("mounted")
    }

    fn freeze(&mut self) {
        // The test holds its input, which ends with the test.
        let script = "timeout 90 cat; fsfreeze --unfreeze \"$1\"";
        // In a separate session, so that a signal to the test's process group does not end it.
        let mut watchdog = Command::new("setsid");
        watchdog.args(["sh", "-c", script, "sh"]).arg(self.path());
        watchdog.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        self.watchdog = Some(watchdog.spawn().expect("it starts"));
        succeed(Command::new("fsfreeze").arg("--freeze").arg(self.path()));
    }

    fn thaw(&mut self) {
        succeed(Command::new("fsfreeze").arg("--unfreeze").arg(self.path()));
        self.end_the_watchdog();
    }

    /// Ends its input, so that it thaws the disk if that is still frozen.
    fn end_the_watchdog(&mut self) {
        if let Some(mut watchdog) = self.watchdog.take() {
            let _ = watchdog.wait();
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.end_the_watchdog();
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

fn lease(directory: &Path, namespace: &str) -> Result<Snowflake, snowmint::Error> {
    let lease = LeaseOptions::new().store(format!("file:{}", directory.display())).namespace(namespace);
    Snowflake::lease(lease.max_wait(Duration::from_millis(500)).window(Duration::from_secs(1)))
}

/// Runs `work` on another thread and returns its result. Panics after `HANG_TIMEOUT`.
fn in_time<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(HANG_TIMEOUT).unwrap_or_else(|_| panic!("{what} has not ended after {HANG_TIMEOUT:?}"))
}

#[test]
fn a_frozen_disk_stops_no_renewals_on_a_healthy_disk() {
    let mut frozen = Disk::new();
    let healthy = TempDir::new().expect("a directory");
    let stuck = lease(&frozen.path(), "orders").expect("a node");
    let generator = lease(healthy.path(), "orders").expect("a node");
    let end_ms = |generator: &Snowflake| generator.window().expect("leased").end_ms;
    frozen.freeze();
    let (since, first_ms) = (Instant::now(), end_ms(&generator));
    while end_ms(&generator) < first_ms + 3000 {
        assert!(since.elapsed() < HANG_TIMEOUT, "no renewal of the healthy lease in {HANG_TIMEOUT:?}");
        thread::sleep(Duration::from_millis(20));
    }
    // The lease on the frozen disk says in its error that the disk does not answer, and mints again after the thaw.
    let error = in_time("a call", move || {
        let error = stuck.next_id().expect_err("its window is over");
        (error, stuck)
    });
    let (error, stuck) = error;
    assert_eq!(error.kind(), ErrorKind::WindowClosed);
    assert!(error.to_string().contains("no answer for"), "{error}");
    frozen.thaw();
    let since = Instant::now();
    while stuck.next_id().is_err() {
        assert!(since.elapsed() < HANG_TIMEOUT, "no ID after the disk was thawed");
    }
}

#[test]
fn constructors_and_close_end_while_the_disk_is_frozen() {
    let mut disk = Disk::new();
    let generator = lease(&disk.path(), "orders").expect("a node");
    disk.freeze();
    // All at once: the blocked threads must not add up.
    let constructors = ["orders", "mails", "bills", "notes"].map(|namespace| {
        let path = disk.path();
        thread::spawn(move || {
            in_time("a constructor", move || {
                let lease = LeaseOptions::new().store(format!("file:{}", path.display())).namespace(namespace);
                Snowflake::lease(lease.max_wait(Duration::from_millis(500)).exclude([0])).map(drop)
            })
        })
    });
    for constructor in constructors {
        let error = constructor.join().expect("it ends").expect_err("nothing can be written");
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
        assert!(error.to_string().contains("no answer within"), "{error}");
    }
    let claims = || {
        let names = fs::read_dir("/proc/self/task").expect("procfs");
        let names = names.map(|task| fs::read_to_string(task.expect("a task").path().join("comm")).unwrap_or_default());
        names.filter(|name| name.trim() == "snowmint-claim").count()
    };
    assert!(claims() <= 1, "threads pile up: {}", claims());
    in_time("close", move || generator.close());
    disk.thaw();
    // Abandoned claims hold no lock.
    let since = Instant::now();
    while let Err(error) = lease(&disk.path(), "orders") {
        assert!(since.elapsed() < HANG_TIMEOUT, "{error}");
    }
}

#[cfg(feature = "engines")]
#[test]
fn leases_of_a_frozen_store_end_together_at_exit() {
    use snowmint_tests::engines::{Engine, Server};
    use support::{Running, minter};

    let server = Server::start(Engine::Postgres);
    let mut command = minter("hold");
    command.arg(format!("store={}", server.url())).args(["leases=20", "exit=true"]).stdin(Stdio::piped());
    let mut holder = Running::start(&mut command);
    for _ in 0..20 {
        holder.node();
    }
    server.pause(true);
    drop(holder.child.stdin.take());
    // All leases together wait for two seconds, not each of them.
    in_time("the process", move || holder.child.wait().expect("it ends"));
    server.pause(false);
}
