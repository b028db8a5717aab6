//! Query parameters: each path takes the parameters in the document, and refuses others.

use super::support::{Server, directory, store, verb};

/// Returns a path with a value instead of each name.
fn filled(path: &str) -> String {
    let values = [("{tag}", "t"), ("{name}", "n"), ("{uid}", "5"), ("{set}", "s"), ("{ns}", "orders"), ("{node}", "1")];
    let values = values.into_iter().chain([("{id}", "5"), ("{key}", "t")]);
    let filled = values.fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
    assert!(!filled.contains('{'), "{path} has an unknown part");
    filled
}

#[test]
fn each_path_refuses_a_parameter_that_it_does_not_take() {
    let directory = directory();
    verb(&["segment", "create", "t", "--store", &store(directory.path())]);
    let server = Server::start(directory.path(), &["--health", "127.0.0.1:0"]);
    let document = server.get("/openapi.json").json();
    let mut walked = 0;
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let (method, filled) = (method.to_uppercase(), filled(path));
            if operation["tags"][0] == "leaf" {
                // As Leaf: its clients may add whatever they like.
                assert_eq!(server.ask(&method, &format!("{filled}?conut=2"), &[], "").status, 200, "{path}");
                continue;
            }
            for query in ["conut=2", "conut", "count=1&conut=2", "%63onut=2", "Count=2"] {
                let refused = server.ask(&method, &format!("{filled}?{query}"), &[], "").problem(400, "BAD_REQUEST");
                let detail = refused["detail"].as_str().expect("text");
                assert!(detail.contains("no parameter of this path"), "{method} {path}?{query}: {detail}");
            }
            walked += 1;
        }
    }
    assert!(walked >= 20, "{walked} operations");
    server.get("/openapi.json?x=1").problem(400, "BAD_REQUEST");
    // The page reads its own query, and a path that does not exist says so.
    assert_eq!(server.get("/?id=5").status, 200);
    assert_eq!(server.get("/v1/nothing?x=1").status, 404);
    assert_eq!(server.ask("DELETE", "/v1/ids?x=1", &[], "").status, 405);
    // No refused request has taken a number.
    assert_eq!(server.get("/v1/tickets/n").id(), 1);
    assert_eq!(server.post("/v1/sequences/n/next").ids(), [1]);
    assert_eq!(server.number("/v1/users/5/next"), 1);
    assert_eq!(server.number("/v1/users/s/5/next"), 1);
}

#[test]
fn a_refused_parameter_says_what_the_path_takes() {
    let (server, _directory) = Server::alone(&[]);
    let detail = |path: &str| server.get(path).problem(400, "BAD_REQUEST")["detail"].as_str().expect("text").to_owned();
    assert_eq!(
        detail("/v1/ids?coutn=5"),
        "\"coutn\" is no parameter of this path, which takes only the query parameters count, layout, namespace"
    );
    assert_eq!(detail("/v1/status?x"), "\"x\" is no parameter of this path, which takes no query parameters");
    assert!(detail(&format!("/v1/status?{}=1", "x".repeat(5000))).len() < 300);
    assert!(detail("/v1/ids?count=5&count=6").contains("duplicate field"));
}

#[test]
fn a_count_gives_a_list_of_tickets_and_of_numbers_of_a_user() {
    let (server, _directory) = Server::alone(&[]);
    let ids = |path: &str, method: &str| server.ask(method, path, &[], "").ids();
    assert_eq!(server.get("/v1/tickets/t").id(), 1);
    assert_eq!(ids("/v1/tickets/t?count=5", "GET"), [2, 3, 4, 5, 6]);
    assert_eq!(ids("/v1/tickets/t?count=1", "GET"), [7]);
    assert_eq!(server.number("/v1/users/7/next"), 1);
    assert_eq!(ids("/v1/users/7/next?count=3", "POST"), [2, 3, 4]);
    assert_eq!(ids("/v1/users/drafts/7/next?count=2", "POST"), [1, 2]);
    assert_eq!(ids("/v1/tickets/t?count=1000", "GET"), (8..1008).collect::<Vec<u64>>());
    for (method, path) in [
        ("GET", "/v1/tickets/t"),
        ("POST", "/v1/users/7/next"),
        ("POST", "/v1/users/s/7/next"),
        ("POST", "/v1/sequences/t/next"),
    ] {
        for count in ["0", "1001"] {
            server.ask(method, &format!("{path}?count={count}"), &[], "").problem(400, "INVALID_ID");
        }
        for count in ["", "-1", "x", "18446744073709551616"] {
            server.ask(method, &format!("{path}?count={count}"), &[], "").problem(400, "BAD_REQUEST");
        }
    }
    assert_eq!(server.metric("snowmint_numbers_total", "http"), 1 + 5 + 1 + 1 + 3 + 2 + 1000);
}
