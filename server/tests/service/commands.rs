//! The commands of the Redis protocol, by a client of Redis.

use redis::{Commands as _, RedisResult, Value, cmd};

use super::support::{Server, TOKEN, assert_increasing};

fn error(result: RedisResult<Value>) -> String {
    let error = result.expect_err("refused");
    format!("{} {}", error.code().unwrap_or_default(), error.detail().unwrap_or_default())
}

#[test]
fn keys_count_as_those_of_redis_do_and_never_go_back() {
    let (server, _directory) = Server::alone(&[]);
    let mut client = server.client();
    let none: Option<String> = client.get("a").expect("an answer");
    assert_eq!(none, None);
    let next = |client: &mut redis::Connection| client.incr::<_, _, u64>("a", 1).expect("a number");
    assert_eq!([next(&mut client), next(&mut client)], [1, 2]);
    let bulk: Value = cmd("GET").arg("a").query(&mut client).expect("a number");
    assert_eq!(bulk, Value::BulkString(b"3".to_vec()));
    assert_eq!(client.incr::<_, _, u64>("a", 0), Ok(3));
    assert_eq!(client.incr::<_, _, u64>("a", 100_000), Ok(100_003));
    assert_eq!(next(&mut client), 100_004);
    let _: () = client.set("a", 5).expect("OK");
    assert_eq!(next(&mut client), 100_005);
    let _: () = client.set("a", 1_000_000).expect("OK");
    assert_eq!(next(&mut client), 1_000_001);
    assert_eq!(client.exists::<_, u64>(&["a", "b", "a"]), Ok(2));
    assert_eq!((client.del::<_, u64>("a"), client.del::<_, u64>("a")), (Ok(1), Ok(0)));
    assert_eq!(client.exists::<_, bool>("a"), Ok(false));
    let none: Option<String> = client.get("a").expect("an answer");
    assert_eq!(none, None);
    assert!(next(&mut client) > 1_000_001);
}

#[test]
fn what_a_command_cannot_be_is_told_with_its_code() {
    let (server, _directory) = Server::alone(&[]);
    let mut client = server.client();
    let long = "x".repeat(129);
    for (words, told) in [
        (&["INCRBY", "a", "-1"][..], "ERR INVALID_ID"),
        (&["INCRBY", "a", "100001"], "ERR INVALID_ID"),
        (&["INCRBY", "a", "x"], "ERR INVALID_ID"),
        (&["INCRBY", "a", "9223372036854775808"], "ERR INVALID_ID"),
        (&["SET", "a", "-1"], "ERR INVALID_ID"),
        (&["SET", "a", "9223372036854775807"], "ERR INVALID_ID"),
        (&["INCR", &long], "ERR INVALID_TEXT"),
        (&["INCR", ""], "ERR INVALID_TEXT"),
        (&["INCR"], "ERR wrong number"),
        (&["SET", "a", "1", "EX", "5"], "ERR wrong number"),
        (&["FLUSHALL"], "ERR unknown command"),
        (&["AUTH", "x"], "ERR AUTH"),
        (&["HELLO", "4"], "NOPROTO"),
    ] {
        let told_us = error(cmd(words[0]).arg(&words[1..]).query(&mut client));
        assert!(told_us.starts_with(told), "{words:?}: {told_us}");
    }
    assert_eq!(cmd("PING").query::<String>(&mut client), Ok("PONG".to_owned()));
}

#[test]
fn resp3_is_spoken_after_hello() {
    let (server, _directory) = Server::alone(&[]);
    let url = format!("redis://{}/?protocol=resp3", server.redis);
    let mut client = redis::Client::open(url).expect("a URL").get_connection().expect("a connection");
    assert_eq!(cmd("GET").arg("a").query(&mut client), Ok(Value::Nil));
    assert_eq!(cmd("INCR").arg("a").query(&mut client), Ok(Value::Int(1)));
    let hello: std::collections::HashMap<String, Value> = cmd("HELLO").query(&mut client).expect("a map");
    assert_eq!(hello["proto"], Value::Int(3));
    let info: String = cmd("INFO").query(&mut client).expect("a text");
    assert!(info.contains("loading:0\r\n"));
}

#[test]
fn a_pipeline_is_answered_in_order() {
    let (server, _directory) = Server::alone(&[]);
    let mut pipe = redis::pipe();
    for _ in 0..20_000 {
        pipe.cmd("INCR").arg("a");
    }
    let numbers: Vec<u64> = pipe.query(&mut server.client()).expect("numbers");
    assert_eq!(numbers.len(), 20_000);
    assert_increasing(&numbers);
}

#[test]
fn without_the_token_there_is_nothing() {
    let directory = tempfile::TempDir::new().expect("a directory");
    let file = directory.path().join("token");
    std::fs::write(&file, TOKEN).expect("written");
    let server = Server::start(directory.path(), &["--token-file", file.to_str().expect("text")]);
    let mut client = server.client();
    for words in [&["INCR", "a"][..], &["PING"], &["HELLO", "3"], &["INFO"]] {
        assert!(error(cmd(words[0]).arg(&words[1..]).query(&mut client)).starts_with("NOAUTH"), "{words:?}");
    }
    assert!(error(cmd("AUTH").arg("wrong").query(&mut client)).starts_with("WRONGPASS"));
    assert!(error(cmd("INCR").arg("a").query(&mut client)).starts_with("NOAUTH"));
    let _: () = cmd("AUTH").arg(TOKEN).query(&mut client).expect("OK");
    assert_eq!(client.incr::<_, _, u64>("a", 1), Ok(1));
    let url = format!("redis://:{TOKEN}@{}/3?protocol=resp3", server.redis);
    let mut client = redis::Client::open(url).expect("a URL").get_connection().expect("a connection");
    assert_eq!(client.incr::<_, _, u64>("a", 1), Ok(2));

    server.get("/v1/ids").problem(401, "UNAUTHORIZED");
    server.get("/nothing").problem(401, "UNAUTHORIZED");
    let with = |header: &str| server.ask("GET", "/v1/ids", &[("authorization", header)], "");
    for wrong in ["Bearer wrong", "Bearer ", "Basic eDp5", TOKEN, &format!("Bearer {TOKEN}x")] {
        let answer = with(wrong);
        answer.problem(401, "UNAUTHORIZED");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
    }
    assert_eq!(with(&format!("Bearer {TOKEN}")).status, 200);
    assert_eq!(with(&format!("bearer {TOKEN}")).status, 200);
    assert_eq!(server.get("/healthz").status, 200);
}
