//! Names that clients choose: which names the service makes, and what happens to existing names.

use redis::{Commands as _, cmd};
use serde::Deserialize;
use snowmint_stores::{Tag, connect};
use snowmint_tests::cases;

use super::support::{Server, directory, store};

#[derive(Deserialize)]
struct Case {
    name: String,
    text: String,
    error: Option<String>,
}

/// The letter a and a combining diaeresis, a line end, and a mark that turns text around.
const OLD: &str = "Ka\u{308}se\n\u{202e}";

fn escaped(name: &str) -> String {
    name.bytes().fold(String::new(), |path, byte| path + &format!("%{byte:02X}"))
}

#[test]
fn a_name_comes_into_being_only_if_it_is_allowed() {
    let (server, directory) = Server::alone(&[]);
    let mut client = server.client();
    for Case { name, text, error } in cases("names") {
        let wanted = error.as_deref();
        let took = client.incr::<_, _, u64>(&text, 1).map_err(|error| error.to_string());
        let output = took.clone().err().unwrap_or_default();
        assert_eq!(took.is_ok(), wanted.is_none(), "{name}: {took:?}");
        assert!(wanted.is_none_or(|code| output.contains(code)), "{name}: {output}");
        if text.is_empty() {
            continue;
        }
        for (method, path) in [
            ("GET", format!("/v1/tickets/{}", escaped(&text))),
            ("POST", format!("/v1/sequences/{}/next", escaped(&text))),
        ] {
            let answer = server.ask(method, &path, &[], "");
            match wanted {
                None => assert_eq!(answer.status, 200, "{name}: {answer:?}"),
                Some(code) => drop(answer.problem(400, code)),
            }
        }
        let set = client.set::<_, _, ()>(&text, 5);
        assert_eq!(set.is_ok(), wanted.is_none(), "{name}: {set:?}");
    }
    let keys = tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let store = connect(&store(directory.path())).await.expect("a store");
        let mut keys = Vec::new();
        for prefix in ["keys/", "definitions/", "settings/tickets/"] {
            keys.push(store.list(prefix).await.expect("a list").len());
        }
        keys
    });
    let allowed = cases::<Case>("names").into_iter().filter(|case| case.error.is_none()).count();
    assert_eq!(keys, [allowed; 3], "no refused name left a record");
}

#[test]
fn names_that_are_there_stay_usable() {
    let directory = directory();
    let part = escaped("Ka").replace("%4B%61", "Ka") + "%CC%88se%0A%E2%80%AE";
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let store = connect(&store(directory.path())).await.expect("a store");
        store.write(&format!("keys/{part}"), b"key 1\nthere=true\n", 0).await.expect("written");
        store.add(&format!("keys/{part}"), 41, 1).await.expect("added");
        let sequence = b"sequence 1\ndialect=pg\nkind=bigint\nincrement=1\ncycle=false\n";
        store.write(&format!("definitions/{part}"), sequence, 0).await.expect("written");
        let tag = Tag::new(7, 10);
        assert!(store.segments().expect("a table").create(OLD, &tag).await.expect("written"));
        store.close().await;
    });
    let server = Server::start(directory.path(), &[]);
    let mut client = server.client();
    assert_eq!(client.exists::<_, bool>(OLD), Ok(true));
    assert_eq!(client.incr::<_, _, u64>(OLD, 1), Ok(42));
    assert_eq!(client.get::<_, u64>(OLD), Ok(43));
    assert_eq!(cmd("SET").arg(OLD).arg(5000).query::<String>(&mut client), Ok("OK".to_owned()));
    assert_eq!(client.del::<_, u64>(OLD), Ok(1));
    assert_eq!(server.post(&format!("/v1/sequences/{}/next", escaped(OLD))).json()["ids"][0], "1");
    assert_eq!(server.get(&format!("/v1/segments/{}", escaped(OLD))).range(), 7..8);
}
