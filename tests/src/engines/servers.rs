//! How each engine is started, and when it is ready.
#![allow(clippy::missing_panics_doc, reason = "a test fails by a panic")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::ask;

/// An engine of Debian 12's packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// `postgresql-15`
    Postgres,
    /// `mariadb-server`
    Mariadb,
    /// `redis-server`
    Redis,
    /// `etcd-server`
    Etcd,
    /// `zookeeper`
    Zookeeper,
}

const POSTGRES: &str = "/usr/lib/postgresql/15/bin";

impl Engine {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::Postgres, Self::Mariadb, Self::Redis, Self::Etcd, Self::Zookeeper];

    /// The URL of a store on a server at that port.
    pub fn url(self, port: u16) -> String {
        match self {
            Self::Postgres => format!("postgres://postgres@127.0.0.1:{port}/postgres"),
            Self::Mariadb => format!("mysql://root@127.0.0.1:{port}/ids"),
            Self::Redis => format!("redis://127.0.0.1:{port}"),
            Self::Etcd => format!("etcd://127.0.0.1:{port}"),
            Self::Zookeeper => format!("zookeeper://127.0.0.1:{port}"),
        }
    }

    /// What stands before the command: some engines refuse root.
    pub(super) fn as_whom(self) -> &'static [&'static str] {
        match self {
            Self::Postgres | Self::Mariadb if is_root() => {
                &["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
            }
            _ => &[],
        }
    }

    /// Makes its data.
    pub(super) fn prepare(self, directory: &Path) {
        if !self.as_whom().is_empty() {
            run(Command::new("chown").arg("nobody:nogroup").arg(directory));
        }
        let data = directory.join("data");
        match self {
            Self::Postgres => run(self.command_as_whom(&format!("{POSTGRES}/initdb")).arg("-D").arg(data).args([
                "-A",
                "trust",
                "-U",
                "postgres",
                "--no-sync",
                "--locale=C",
                "--encoding=UTF8",
            ])),
            Self::Mariadb => run(self
                .command_as_whom("mariadb-install-db")
                .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
                .arg(format!("--datadir={}", data.display()))
                // Each server removes the temporary tables that it finds where it puts its own.
                .arg(format!("--tmpdir={}", directory.display()))),
            Self::Redis | Self::Etcd | Self::Zookeeper => fs::create_dir(data).expect("a directory"),
        }
    }

    /// Makes its data out of those of a server that runs, to follow it.
    pub(super) fn copy(self, port: u16, directory: &Path) {
        assert_eq!(self, Self::Postgres, "standbys of others are not started here");
        if !self.as_whom().is_empty() {
            run(Command::new("chown").arg("nobody:nogroup").arg(directory));
        }
        let from = ["-h", "127.0.0.1", "-U", "postgres", "-p", &port.to_string()];
        let copy = ["-R", "--checkpoint=fast", "--no-sync", "-D"];
        run(self
            .command_as_whom(&format!("{POSTGRES}/pg_basebackup"))
            .args(from)
            .args(copy)
            .arg(directory.join("data")));
    }

    fn command_as_whom(self, program: &str) -> Command {
        let mut words = self.as_whom().iter().copied().chain([program]);
        let mut command = Command::new(words.next().expect("the program at least"));
        command.args(words);
        command
    }

    /// What starts it.
    pub(super) fn command(
        self,
        directory: &Path,
        port: u16,
        peer_port: u16,
        options: &[String],
    ) -> (String, Vec<String>) {
        let (data, at) = (directory.join("data"), directory.display());
        let data = data.display();
        let (program, arguments) = match self {
            Self::Postgres => (
                format!("{POSTGRES}/postgres"),
                format!("-D {data} -p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={at}"),
            ),
            Self::Mariadb => (
                "mariadbd".to_owned(),
                format!(
                    "--no-defaults --datadir={data} --bind-address=127.0.0.1 --port={port} --socket={at}/s.sock \
                     --pid-file={at}/p.pid --tmpdir={at} --innodb-buffer-pool-size=16M"
                ),
            ),
            Self::Redis => (
                "redis-server".to_owned(),
                format!(
                    "--bind 127.0.0.1 --port {port} --dir {data} --daemonize no --appendonly yes --appendfsync always \
                     --save _"
                ),
            ),
            Self::Etcd => (
                "etcd".to_owned(),
                format!(
                    "--name t --data-dir {data}/etcd --listen-client-urls http://127.0.0.1:{port} \
                     --advertise-client-urls http://127.0.0.1:{port} --listen-peer-urls http://127.0.0.1:{peer_port} \
                     --initial-advertise-peer-urls http://127.0.0.1:{peer_port} \
                     --initial-cluster t=http://127.0.0.1:{peer_port}"
                ),
            ),
            Self::Zookeeper => {
                let configuration = directory.join("zoo.cfg");
                let mut lines = format!(
                    "tickTime=500\ndataDir={data}\nclientPort={port}\nclientPortAddress=127.0.0.1\n\
                     admin.enableServer=false\n4lw.commands.whitelist=ruok,srvr\nmaxClientCnxns=0\n"
                );
                lines.extend(options.iter().flat_map(|line| [line.as_str(), "\n"]));
                fs::write(&configuration, lines).expect("a file");
                (
                    "java".to_owned(),
                    format!(
                        "-Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp \
                         /etc/zookeeper/conf:/usr/share/java/zookeeper.jar \
                         org.apache.zookeeper.server.ZooKeeperServerMain {}",
                        configuration.display()
                    ),
                )
            }
        };
        // No temporary directory has blanks in its path; `_` stands for an empty argument.
        let empty = |word: &str| if word == "_" { String::new() } else { word.to_owned() };
        let options = if self == Self::Zookeeper { &[] } else { options };
        (program, arguments.split_whitespace().map(empty).chain(options.iter().cloned()).collect())
    }

    /// Whether it answers.
    pub(super) fn is_ready(self, port: u16) -> bool {
        let port_text = port.to_string();
        match self {
            Self::Postgres => succeeds("pg_isready", &["-q", "-h", "127.0.0.1", "-p", &port_text]),
            Self::Mariadb => {
                succeeds("mariadb-admin", &["--no-defaults", "-uroot", "-h127.0.0.1", "-P", &port_text, "ping"])
            }
            Self::Redis => ask(port, "PING\r\n").is_ok_and(|answer| answer.starts_with("+PONG")),
            Self::Etcd => ask(port, "GET /health HTTP/1.0\r\n\r\n").is_ok_and(|answer| answer.contains("200 OK")),
            // It answers `ruok` before it takes sessions.
            Self::Zookeeper => ask(port, "srvr").is_ok_and(|answer| answer.contains("Zookeeper version")),
        }
    }

    /// What it needs once before its first use.
    pub(super) fn settle(self, port: u16) {
        if self == Self::Mariadb {
            let port = port.to_string();
            let statement = "CREATE DATABASE IF NOT EXISTS ids";
            run(Command::new("mariadb").args(["--no-defaults", "-uroot", "-h127.0.0.1", "-P", &port, "-e", statement]));
        }
    }

    /// The processes that work in the directory, of an engine that has several.
    pub(super) fn workers(self, directory: &Path) -> Vec<i32> {
        if self != Self::Postgres {
            return Vec::new();
        }
        let data = directory.join("data");
        let processes = fs::read_dir("/proc").expect("a directory").flatten();
        let there =
            processes.filter(|process| fs::read_link(process.path().join("cwd")).is_ok_and(|place| place == data));
        there.filter_map(|process| process.file_name().to_str()?.parse().ok()).collect()
    }

    /// Waits until no process works in the directory.
    pub(super) fn wait_for_children(self, directory: &Path) {
        for _ in 0..500 {
            if self.workers(directory).is_empty() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("processes of {self:?} go on");
    }

    /// The engine's own client, connected to a server at that port.
    fn own_client(self, port: u16) -> Command {
        let port = port.to_string();
        let (program, arguments): (_, &[&str]) = match self {
            Self::Postgres => ("psql", &["-X", "-q", "-t", "-A", "-h", "127.0.0.1", "-U", "postgres", "-p", &port]),
            Self::Mariadb => {
                ("mariadb", &["--no-defaults", "-uroot", "-h127.0.0.1", "-N", "-B", "-f", "-P", &port, "ids"])
            }
            Self::Redis => ("redis-cli", &["-p", &port]),
            Self::Etcd => ("etcdctl", &[]),
            Self::Zookeeper => panic!("no client is needed for ZooKeeper"),
        };
        let mut command = Command::new(program);
        command.args(arguments);
        if self == Self::Etcd {
            command.env("ETCDCTL_API", "3").arg(format!("--endpoints=127.0.0.1:{port}"));
        }
        command
    }

    /// Has the engine's own client do a statement, and gives what it prints.
    pub fn client(self, port: u16, statement: &str) -> String {
        let mut command = self.own_client(port);
        match self {
            Self::Postgres => command.args(["-c", statement]),
            Self::Mariadb => command.args(["-e", statement]),
            _ => command.args(statement.split(' ')),
        };
        let output = command.output().expect("it starts");
        let refusal = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !refusal.contains("ERROR"), "{statement}: {refusal}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Has it do a script in one session, in which it passes over what is refused.
    pub fn client_script(self, port: u16, script: &str) -> String {
        let mut client = self.own_client(port);
        let mut child =
            client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(script.as_bytes()).expect("it reads");
        drop(input);
        let output = child.wait_with_output().expect("it ends");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").expect("it is there")) == 0
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.unwrap_or_else(|error| panic!("{program}: {error}")).success()
}
