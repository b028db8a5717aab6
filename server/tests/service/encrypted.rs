//! Both protocols over TLS.

use std::process::Command;

use super::support::{Server, directory};

/// Returns the output of a program that speaks TLS, or `None` if it is not installed.
fn output(program: &str, words: &[&str]) -> Option<String> {
    let run = Command::new(program).args(words).output().ok()?;
    Some(String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr))
}

#[test]
fn both_protocols_are_encrypted_with_a_certificate() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    std::fs::write(path("cert.pem"), made.cert.pem()).expect("written");
    std::fs::write(path("key.pem"), made.signing_key.serialize_pem()).expect("written");
    let server = Server::start(directory.path(), &["--tls-cert", &path("cert.pem"), "--tls-key", &path("key.pem")]);
    let port = |address: &str| address.rsplit(':').next().expect("a port").to_owned();
    let url = format!("https://localhost:{}/healthz", port(&server.http));
    let answer = output("curl", &["--silent", "--show-error", "--cacert", &path("cert.pem"), &url]);
    assert_eq!(answer.as_deref(), Some("ok\n"));
    let words = ["-h", "localhost", "-p", &port(&server.redis), "--tls", "--cacert", &path("cert.pem"), "incr", "a"];
    assert_eq!(output("redis-cli", &words).as_deref(), Some("1\n"));
    // A client without TLS gets no answer, and other clients are not blocked.
    assert!(server.try_ask("GET", "/healthz", &[], "").is_err());
    assert_eq!(output("redis-cli", &words).as_deref(), Some("2\n"));
}

#[test]
fn an_error_names_the_file_of_a_bad_certificate() {
    let directory = directory();
    let file = directory.path().join("cert.pem");
    std::fs::write(&file, "none").expect("written");
    let run = super::support::command()
        .args(["serve", "--store", "memory:", "--http", "127.0.0.1:0", "--redis", "off"])
        .args(["--tls-cert".as_ref(), file.as_os_str(), "--tls-key".as_ref(), file.as_os_str()])
        .output()
        .expect("it runs");
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{message}");
    assert!(message.starts_with("snowmint: TLS: ") && message.contains("cert.pem"), "{message}");
}
