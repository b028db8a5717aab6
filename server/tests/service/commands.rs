//! The commands of the Redis protocol, sent by a Redis client.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use redis::{Commands as _, RedisResult, Value, cmd};
use snowmint_tests::engines::{Engine, Server as Store};

use super::support::{Server, TOKEN, assert_increasing, directory};

fn error(result: RedisResult<Value>) -> String {
    let error = result.expect_err("refused");
    format!("{} {}", error.code().unwrap_or_default(), error.detail().unwrap_or_default())
}

#[test]
fn keys_count_as_in_redis_and_never_go_back() {
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
    let below = client.set::<_, _, Value>("a", 5).expect_err("it sets nothing").to_string();
    assert!(below.contains("key \"a\" is at 100004 already, and its numbers never go back: nothing is set"), "{below}");
    let _: () = client.set("a", 100_004).expect("it is there");
    assert_eq!(next(&mut client), 100_005);
    assert_eq!(client.incr::<_, _, u64>("large", 2_147_483_647_u64), Ok(2_147_483_647));
    let error = client.incr::<_, _, u64>("large", 2_147_483_648_u64).expect_err("more than a range holds");
    assert!(error.to_string().contains("at most 2147483647 numbers, not 2147483648: send it several times"), "{error}");
    assert_eq!(client.incr::<_, _, u64>("large", 1), Ok(2_147_483_648));
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
fn a_wrong_command_gets_an_error_with_a_code() {
    let (server, _directory) = Server::alone(&[]);
    let mut client = server.client();
    let long = "x".repeat(129);
    for (words, expected) in [
        (&["INCRBY", "a", "-1"][..], "ERR INVALID_ID"),
        (&["INCRBY", "a", "2147483648"], "ERR INVALID_ID"),
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
        let answered = error(cmd(words[0]).arg(&words[1..]).query(&mut client));
        assert!(answered.starts_with(expected), "{words:?}: {answered}");
    }
    assert_eq!(cmd("PING").query::<String>(&mut client), Ok("PONG".to_owned()));
}

#[test]
fn integers_have_the_form_that_redis_takes() {
    let (server, _directory) = Server::alone(&[]);
    let mut client = server.client();
    let redis = Store::start(Engine::Redis);
    let mut other = redis::Client::open(redis.url().split('?').next().expect("a URL"))
        .expect("a URL")
        .get_connection()
        .expect("a connection");
    for (place, text) in [
        "7",
        "007",
        "0",
        "-0",
        "00",
        "-00",
        "+7",
        " 7",
        "7 ",
        "",
        "-",
        "--1",
        "7\n",
        "7\0",
        "0x7",
        "1e3",
        "7.0",
        "\u{667}",
        "99999999999999999999",
        "2147483647",
    ]
    .into_iter()
    .enumerate()
    {
        let [ours, theirs] = [&mut client, &mut other]
            .map(|client| cmd("INCRBY").arg(format!("k{place}")).arg(text).query::<i64>(client));
        assert_eq!(ours.as_ref().ok(), theirs.as_ref().ok(), "{text:?}: {ours:?}, Redis: {theirs:?}");
        let output = theirs.err().map(|error| error.detail().unwrap_or_default().to_owned()).unwrap_or_default();
        assert!(ours.err().is_none_or(|error| error.to_string().contains(&output)), "{text:?}: {output}");
    }
    for text in ["007", "-0", "+7"] {
        let refused = error(cmd("SET").arg("a").arg(text).query(&mut client));
        assert!(refused.starts_with("ERR INVALID_ID value is not an integer"), "{text}: {refused}");
    }
}

#[test]
fn the_largest_number_is_the_same_in_every_text() {
    let (server, _directory) = Server::alone(&[]);
    let mut client = server.client();
    let last = 9_223_372_036_854_775_806_u64;
    assert_eq!(cmd("SET").arg("a").arg(last - 1).query::<String>(&mut client), Ok("OK".to_owned()));
    assert_eq!(client.incr::<_, _, u64>("a", 1), Ok(last));
    let over = error(cmd("INCR").arg("a").query(&mut client));
    assert!(over.ends_with(&format!("the last one is {last}")), "{over}");
    assert_eq!(cmd("SET").arg("b").arg(last).query::<String>(&mut client), Ok("OK".to_owned()));
    let beyond = error(cmd("SET").arg("b").arg(last + 1).query(&mut client));
    assert!(beyond.contains("a key can be set to 0 to 2^63-2"), "{beyond}");
    let negative = error(cmd("SET").arg("b").arg(-1).query(&mut client));
    assert!(negative.contains("SET takes 0 to 2^63-2"), "{negative}");
    let guide = include_str!("../../README.md");
    assert!(guide.contains("(n is 0 to 2^63-2)") && guide.contains("The last number is 2^63-2."));
}

#[test]
fn get_peek_takes_no_number() {
    let directory = directory();
    let peeking = ["--get", "peek"];
    let mut server = Server::start(directory.path(), &peeking);
    let mut client = server.client();
    let get = |client: &mut redis::Connection, key: &str| client.get::<_, Option<String>>(key).expect("an answer");
    assert_eq!((get(&mut client, "a"), client.exists::<_, bool>("a")), (None, Ok(false)), "no key comes into being");
    assert_eq!(client.incr::<_, _, u64>("a", 1), Ok(1));
    assert_eq!(client.incr::<_, _, u64>("a", 1), Ok(2));
    for _ in 0..3 {
        assert_eq!(get(&mut client, "a").as_deref(), Some("2"));
    }
    assert_eq!(client.incr::<_, _, u64>("a", 1), Ok(3));
    let _: () = client.set("b", 41).expect("OK");
    assert_eq!(get(&mut client, "b").as_deref(), Some("41"));
    assert_eq!(client.incr::<_, _, u64>("b", 1), Ok(42));
    let (both,): (Vec<Option<String>>,) = redis::pipe()
        .atomic()
        .cmd("GET")
        .arg("a")
        .cmd("GET")
        .arg("none")
        .query(&mut client)
        .map(|both| (both,))
        .expect("both");
    assert_eq!(both, [Some("3".to_owned()), None]);
    let given = server.get("/metrics").text;
    let given =
        given.lines().find(|line| line.starts_with("snowmint_numbers_total{protocol=\"redis\"}")).expect("a metric");
    assert!(given.ends_with(" 4"), "{given}");
    assert_eq!(client.del::<_, u64>("b"), Ok(1));
    assert_eq!(get(&mut client, "b"), None);
    // Numbers that were not given go back at the end.
    assert!(server.end());
    let server = Server::start(directory.path(), &peeking);
    assert_eq!(get(&mut server.client(), "a").as_deref(), Some("3"));
    // A second server has its own range, and the store knows only where that ends.
    let other = Server::start(directory.path(), &peeking);
    let next: u64 = other.client().incr("a", 1).expect("a number");
    let mark: u64 = server.client().get("a").expect("a number");
    assert!(next == 4 && mark >= next, "{next}, {mark}");
}

#[test]
fn hello_3_switches_to_resp3() {
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
fn requests_without_the_token_are_refused() {
    let directory = directory();
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
    let url = format!("redis://:{TOKEN}@{}/0?protocol=resp3", server.redis);
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

/// Sends bytes, and returns the server's answer up to the end of the connection.
fn talk(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(&server.redis).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
    stream.write_all(bytes).expect("written");
    let mut answer = Vec::new();
    // After the timeout, the answer is the bytes that arrived so far.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_transaction_runs_as_a_whole_or_not_at_all() {
    let (server, _directory) = Server::alone(&[]);
    let mut client = server.client();
    let numbers: Vec<u64> =
        redis::pipe().atomic().cmd("INCR").arg("a").cmd("INCRBY").arg("a").arg(5).query(&mut client).expect("numbers");
    assert_eq!(numbers, [1, 6]);
    let output = talk(
        &server,
        b"*1\r\n$5\r\nMULTI\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n*1\r\n$5\r\nNOSUC\r\n*1\r\n$4\r\nEXEC\r\n*1\r\n$4\r\nQUIT\r\n",
    );
    let lines: Vec<_> = output.lines().collect();
    assert_eq!((lines[0], lines[1]), ("+OK", "+QUEUED"), "{output}");
    assert!(lines[2].starts_with("-ERR unknown command") && lines[3].starts_with("-EXECABORT"), "{output}");
    let output = talk(
        &server,
        b"*1\r\n$5\r\nMULTI\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n*1\r\n$7\r\nDISCARD\r\n*1\r\n$4\r\nEXEC\r\n*1\r\n$4\r\nQUIT\r\n",
    );
    assert!(output.starts_with("+OK\r\n+QUEUED\r\n+OK\r\n-ERR EXEC without MULTI"), "{output}");
    // The error of a failed command is among the other answers.
    let output = talk(
        &server,
        b"*1\r\n$5\r\nMULTI\r\n*3\r\n$6\r\nINCRBY\r\n$1\r\na\r\n$1\r\nx\r\n*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nEXEC\r\n*1\r\n$4\r\nQUIT\r\n",
    );
    assert!(output.contains("*2\r\n-ERR INVALID_ID") && output.contains("\r\n+PONG\r\n+OK\r\n"), "{output}");
    assert_eq!(client.incr::<_, _, u64>("a", 1), Ok(7), "the discarded commands took no number");
}

#[test]
fn a_transaction_is_limited_in_size() {
    let (server, _directory) = Server::alone(&[]);
    let mut pipe = redis::pipe();
    pipe.cmd("MULTI").ignore();
    let long = "x".repeat(60_000);
    for _ in 0..10 {
        pipe.cmd("ECHO").arg(&long).ignore();
    }
    pipe.cmd("EXEC");
    let error = pipe.query::<Value>(&mut server.client()).expect_err("too long");
    assert!(format!("{error:?}").contains("256 kB"), "{error:?}");
}

#[test]
fn a_plain_ping_line_is_answered() {
    let (server, _directory) = Server::alone(&[]);
    assert_eq!(talk(&server, b"PING\r\nping\n\r\n*1\r\n$4\r\nQUIT\r\n"), "+PONG\r\n+PONG\r\n+OK\r\n");
    // A web page cannot take a number this way.
    for line in ["GET /v1/ids HTTP/1.1\r\n", "POST / HTTP/1.1\r\n", "INCR a\r\n"] {
        assert!(talk(&server, line.as_bytes()).starts_with("-ERR Protocol error"), "{line}");
    }
}

#[test]
fn there_is_one_keyspace() {
    let (server, _directory) = Server::alone(&[]);
    let mut client = server.client();
    let _: () = cmd("SELECT").arg(0).query(&mut client).expect("OK");
    for other in ["1", "15", "-1", "x"] {
        let output = error(cmd("SELECT").arg(other).query(&mut client));
        assert!(output.starts_with("ERR ") && output.contains("keyspace is 0"), "{output}");
    }
}

#[test]
fn a_command_above_the_limit_is_refused_at_its_head() {
    let (server, _directory) = Server::alone(&[]);
    let begun = std::time::Instant::now();
    for head in ["*2\r\n$4\r\nINCR\r\n$70000\r\n", "*1\r\n$99999999999\r\n", "*1\r\n$536870913\r\n"] {
        let output = talk(&server, head.as_bytes());
        assert!(output.contains("longer than 64 kB"), "{head:?}: {output:?}");
    }
    // A late refusal would come after 10 s.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn a_key_gives_all_numbers_up_to_the_last() {
    const LAST: u64 = i64::MAX as u64;
    let (server, _directory) = Server::alone(&[]);
    let mut client = server.client();
    // Numbers end at 2^63-2, and a step of 1000 passes that.
    let _: () = client.set("a", LAST - 11).expect("OK");
    let numbers: Vec<u64> = (0..10).map(|_| client.incr("a", 1).expect("a number")).collect();
    assert_eq!(numbers, (LAST - 10..LAST).collect::<Vec<_>>());
    let over: RedisResult<u64> = client.incr("a", 1);
    assert!(over.expect_err("no more").detail().is_some_and(|text| text.starts_with("EXHAUSTED")));
    assert_eq!(client.incr::<_, _, u64>("a", 0), Ok(LAST - 1));
    // A block that fits is given after a block that does not fit.
    let _: () = client.set("b", LAST - 11).expect("OK");
    let block: RedisResult<u64> = client.incr("b", 5000);
    assert!(block.is_err());
    assert_eq!(client.incr::<_, _, u64>("b", 10), Ok(LAST - 1));
}

#[test]
fn a_key_on_several_servers_follows_the_readme() {
    let directory = directory();
    let servers = [(); 2].map(|()| Server::start(directory.path(), &["--step", "10"]));
    let mut clients = servers.each_ref().map(Server::client);
    for client in &mut clients {
        let _: u64 = client.incr("a", 1).expect("a number");
    }
    // The other server first gives the numbers that it has in memory, then numbers above 1000.
    let _: () = clients[0].set("a", 1000).expect("OK");
    assert!(clients[0].incr::<_, _, u64>("a", 1).expect("a number") > 1000);
    let mut last = 0;
    for _ in 0..100 {
        last = clients[1].incr("a", 1).expect("a number");
    }
    assert!(last > 1000, "{last}");
    assert_eq!(clients[0].del::<_, u64>("a"), Ok(1));
    for client in &mut clients {
        assert_eq!(client.exists::<_, u64>("a"), Ok(0), "both servers give the same answer");
    }
}
