//! Sequences over HTTP: definitions, `current` and `set`.

use serde_json::{Value, json};

use super::support::{Answer, Server, directory, store, verb};

fn create(server: &Server, name: &str, wanted: &Value) -> Answer {
    server.ask_json("POST", &format!("/v1/sequences/{name}"), wanted)
}

fn next(server: &Server, name: &str) -> String {
    let answer = server.post(&format!("/v1/sequences/{name}/next"));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["ids"][0].as_str().expect("a string").to_owned()
}

fn set(server: &Server, name: &str, setting: &Value) -> Answer {
    server.ask_json("POST", &format!("/v1/sequences/{name}/set"), setting)
}

#[test]
fn a_sequence_is_created_once_and_shown() {
    let (server, directory) = Server::alone(&[]);
    server.get("/v1/sequences/tens").problem(404, "NOT_FOUND");
    let wanted = json!({"start": "100", "increment": -10, "min": "-9223372036854775808", "max": 1000, "cache": "1",
        "cycle": true, "dialect": "pg", "type": "bigint"});
    let made = create(&server, "tens", &wanted);
    assert_eq!(made.status, 201, "{made:?}");
    let shown = json!({"name": "tens", "dialect": "pg", "type": "bigint", "start": "100", "increment": "-10",
        "min": "-9223372036854775808", "max": "1000", "cache": "1", "cycle": true});
    assert_eq!(made.json(), shown);
    assert_eq!(server.get("/v1/sequences/tens").json(), shown);
    assert_eq!([next(&server, "tens"), next(&server, "tens")], ["100", "90"]);
    // The same definition again, by either method, in other words.
    for method in ["POST", "PUT"] {
        let again = server.ask_json(method, "/v1/sequences/tens", &wanted);
        assert_eq!((again.status, again.json()), (200, shown.clone()));
    }
    let other = server.ask_json("PUT", "/v1/sequences/tens", &json!({"increment": 2})).problem(409, "CONFLICT");
    let detail = other["detail"].as_str().expect("text");
    assert!(detail.contains("INCREMENT BY -10") && detail.contains("INCREMENT BY 2"), "{detail}");
    assert_eq!(server.get("/v1/sequences/tens").json(), shown);
    assert_eq!(next(&server, "tens"), "80");
    // PUT creates too, and the first use creates by the defaults.
    assert_eq!(server.ask_json("PUT", "/v1/sequences/plain", &json!({})).status, 201);
    assert_eq!(next(&server, "used"), "1");
    assert_eq!(create(&server, "used", &json!({"start": 1, "max": "9223372036854775807"})).status, 200);
    assert_eq!(create(&server, "used", &json!({"start": 2})).status, 409);
    let store = store(directory.path());
    assert_eq!(
        verb(&["sequence", "show", "tens", "--store", &store]),
        "SEQUENCE tens AS bigint INCREMENT BY -10 MINVALUE -9223372036854775808 MAXVALUE 1000 START WITH 100 CACHE 1 CYCLE (pg)\n"
    );
}

#[test]
fn wrong_definitions_are_refused() {
    let (server, _directory) = Server::alone(&[]);
    for wrong in [
        json!({"increment": 0}),
        json!({"min": 5, "max": 4}),
        json!({"start": 0}),
        json!({"cache": 0}),
        json!({"max": "9223372036854775808"}),
        json!({"max": 1e300}),
        json!({"increment": 1.0}),
        json!({"start": "one"}),
        json!({"dialect": "oracle"}),
        json!({"type": "tinyint"}),
        json!({"cycle": "yes"}),
        json!({"step": 1}),
        json!([]),
    ] {
        let answer = create(&server, "wrong", &wrong);
        assert_eq!(answer.status, 400, "{wrong}: {answer:?}");
        assert_eq!(answer.headers["content-type"], "application/problem+json");
    }
    server.get("/v1/sequences/wrong").problem(404, "NOT_FOUND");
    let long = "n".repeat(129);
    assert_eq!(create(&server, &long, &json!({})).status, 400);
    assert_eq!(server.get(&format!("/v1/sequences/{long}")).status, 400);
    assert_eq!(create(&server, "a%0Ab", &json!({})).status, 400);
}

#[test]
fn the_current_value_is_the_last_one_that_this_server_gave() {
    let directory = directory();
    let servers = [(); 2].map(|()| Server::start(directory.path(), &[]));
    let current = |server: &Server| server.get("/v1/sequences/s/current");
    for server in &servers {
        current(server).problem(404, "NOT_FOUND");
    }
    // A look at the value creates no sequence.
    servers[0].get("/v1/sequences/s").problem(404, "NOT_FOUND");
    assert_eq!(next(&servers[0], "s"), "1");
    assert_eq!(next(&servers[1], "s"), "2");
    assert_eq!(servers.each_ref().map(|server| current(server).id()), [1, 2]);
    assert_eq!(servers[0].post("/v1/sequences/s/next?count=3").ids(), [3, 4, 5]);
    assert_eq!(servers.each_ref().map(|server| current(server).id()), [5, 2]);
    assert_eq!(create(&servers[0], "maria", &json!({"dialect": "mariadb"})).status, 201);
    servers[0].get("/v1/sequences/maria/current").problem(404, "NOT_FOUND");
}

#[test]
fn a_sequence_is_set_as_by_setval() {
    let (server, _directory) = Server::alone(&[]);
    assert_eq!(set(&server, "s", &json!({"value": "41"})).id(), 41);
    assert_eq!(next(&server, "s"), "42");
    assert_eq!(set(&server, "s", &json!({"value": 10, "called": false})).id(), 10);
    assert_eq!(next(&server, "s"), "10");
    for wrong in [json!({}), json!({"value": 0}), json!({"value": 5, "called": 1}), json!({"value": 5, "round": 1})] {
        assert_eq!(set(&server, "s", &wrong).status, 400, "{wrong}");
    }
    assert_eq!(create(&server, "maria", &json!({"dialect": "mariadb", "cache": 1})).status, 201);
    assert_eq!(set(&server, "maria", &json!({"value": 41})).id(), 41);
    assert_eq!(next(&server, "maria"), "42");
    set(&server, "maria", &json!({"value": 5})).problem(409, "CONFLICT");
    assert_eq!(next(&server, "maria"), "43");
}
