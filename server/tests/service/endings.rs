//! SIGTERM, which ends the server, and SIGHUP, which makes it read files again.

use std::io::{Read as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use redis::Commands as _;
use snowmint_tests::engines::{Engine, Server as Store};

use super::slow::Way;
use super::support::{Server, TOKEN, connect, directory, rest};

#[test]
fn an_end_returns_users_first_within_ten_seconds() {
    // One after another, at 150 ms for each of two calls, ten seconds are enough for 33 keys.
    const KEYS: usize = 200;
    let store = Store::start(Engine::Redis);
    let way = Way::to(&store.url());
    let options = ["--window-ms", "120000", "--max-wait-ms", "3000"];
    let mut server = Server::over(&way.url(&store.url()), &options);
    let other = Server::over(&store.url(), &options);
    let mut pipe = redis::pipe();
    for key in 0..KEYS {
        pipe.cmd("INCR").arg(format!("k{key}"));
    }
    let numbers: Vec<u64> = pipe.query(&mut server.client()).expect("a number each");
    assert_eq!(numbers.len(), KEYS);
    let path = "/v1/users/42/next";
    let first = server.post(path).id();
    way.takes_ms(150);
    let begun = Instant::now();
    server.signal("TERM");
    let second = loop {
        let answer = other.post(path);
        if answer.status == 200 {
            break answer.id();
        }
        // Kubernetes kills a container after 30 s.
        assert!(begun.elapsed() < Duration::from_secs(25), "users are not given back: {answer:?}");
        thread::sleep(Duration::from_millis(50));
    };
    println!("users are given back after {:?}", begun.elapsed());
    assert!(second > first);
    assert!(server.wait(Duration::from_secs(25)), "it does not end");
    println!("it ended after {:?}", begun.elapsed());
    // The server gave the keys back in parallel, not one after another.
    let mut client = other.client();
    let back = (0..KEYS).filter(|key| client.incr::<_, _, u64>(format!("k{key}"), 1) == Ok(2)).count();
    assert!(back > 60, "numbers of {back} keys of {KEYS} came back");
}

#[test]
fn a_hanging_store_does_not_delay_the_end() {
    let store = Store::start(Engine::Redis);
    let way = Way::to(&store.url());
    let mut server = Server::over(&way.url(&store.url()), &[]);
    for key in 0..20 {
        let _: u64 = server.client().incr(format!("k{key}"), 1).expect("a number");
    }
    server.post("/v1/users/1/next").id();
    server.get("/v1/ids").ids();
    way.stop(true);
    server.signal("TERM");
    assert!(server.wait(Duration::from_secs(25)), "it does not end");
}

#[test]
fn answers_close_their_connections_while_the_server_ends() {
    let store = Store::start(Engine::Redis);
    let way = Way::to(&store.url());
    let mut server = Server::over(&way.url(&store.url()), &["--max-wait-ms", "3000"]);
    // A connection that sends several requests.
    let kept = connect(&server.http);
    let ask = |path: &str| (&kept).write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
    ask("/healthz").expect("written");
    let mut answer = [0; 12];
    (&kept).read_exact(&mut answer).expect("an answer");
    let idle = connect(&server.http);
    (&idle).write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("written");
    (&idle).read_exact(&mut answer).expect("an answer");
    way.stop(true);
    ask("/v1/tickets/t").expect("written");
    way.wait_until_it_holds();
    server.signal("TERM");
    server.logged("ending");
    way.stop(false);
    let output = rest(&kept).to_lowercase();
    assert!(output.contains("{\"id\":\"1\"}") && output.contains("connection: close"), "{output}");
    // A silent connection is closed, and does not delay the end.
    assert!(!rest(&idle).to_lowercase().contains("connection: close"));
    assert!(server.wait(Duration::from_secs(25)), "it does not end");
}

#[cfg(unix)]
fn write_secret(path: &std::path::Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, text).expect("written");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("set");
}

#[test]
fn a_hang_up_reloads_the_token() {
    let directory = directory();
    let file = directory.path().join("token");
    write_secret(&file, TOKEN);
    let mut server = Server::start(directory.path(), &["--token-file", file.to_str().expect("text")]);
    let with = |server: &Server, token: &str| {
        server.ask("GET", "/v1/ids", &[("authorization", &format!("Bearer {token}"))], "").status
    };
    let mut client = redis::Client::open(format!("redis://:{TOKEN}@{}/", server.redis))
        .and_then(|client| client.get_connection())
        .expect("a connection");
    assert_eq!(with(&server, TOKEN), 200);
    let until = |server: &Server, token: &str, status: u16| {
        let begun = Instant::now();
        while with(server, token) != status {
            assert!(begun.elapsed() < Duration::from_mins(1), "{token} is not {status}");
            thread::sleep(Duration::from_millis(20));
        }
    };
    let other = "another-token-of-these-tests";
    write_secret(&file, other);
    server.signal("HUP");
    until(&server, other, 200);
    assert_eq!(with(&server, TOKEN), 401);
    // A connection that sent the old token stays valid.
    assert_eq!(client.incr::<_, _, u64>("a", 1), Ok(1));
    // After a malformed token the server keeps the old one.
    write_secret(&file, "short");
    server.signal("HUP");
    write_secret(&file, TOKEN);
    server.signal("HUP");
    until(&server, TOKEN, 200);
    assert!(server.end());
}

#[test]
fn a_hang_up_reloads_the_certificate() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    let make = |ca: &str| {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        std::fs::write(path("cert.pem"), made.cert.pem()).expect("written");
        std::fs::write(path(ca), made.cert.pem()).expect("written");
        write_secret(path("key.pem").as_ref(), &made.signing_key.serialize_pem());
    };
    make("first.pem");
    let mut server = Server::start(directory.path(), &["--tls-cert", &path("cert.pem"), "--tls-key", &path("key.pem")]);
    let port = server.http.rsplit(':').next().expect("a port").to_owned();
    let ask = |ca: &str| {
        let run = std::process::Command::new("curl")
            .args(["--silent", "--cacert", &path(ca), &format!("https://localhost:{port}/healthz")])
            .output()
            .expect("curl");
        run.stdout == b"ok\n"
    };
    assert!(ask("first.pem"));
    make("second.pem");
    server.signal("HUP");
    let begun = Instant::now();
    while !ask("second.pem") {
        assert!(begun.elapsed() < Duration::from_mins(1), "the certificate is the old one");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(!ask("first.pem"));
    assert!(server.end());
}
