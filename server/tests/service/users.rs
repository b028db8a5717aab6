//! Users in sets, and their last numbers.

use super::support::{Server, directory};

#[test]
fn each_set_has_its_own_users() {
    let (server, _directory) = Server::alone(&[]);
    assert_eq!([server.number("/v1/users/7/next"), server.number("/v1/users/7/next")], [1, 2]);
    assert_eq!(server.number("/v1/users/drafts/7/next"), 1);
    // The path without a set is the set `users`.
    assert_eq!(server.number("/v1/users/users/7/next"), 3);
    assert_eq!(server.number("/v1/users/7/next"), 4);
    assert_eq!(server.number("/v1/users/%E2%9C%93/7/next"), 1);
    server.post("/v1/users/a%0Ab/7/next").problem(400, "INVALID_TEXT");
    server.post(&format!("/v1/users/{}/7/next", "s".repeat(129))).problem(400, "INVALID_TEXT");
    server.post("/v1/users/drafts/x/next").problem(400, "INVALID_ID");
}

#[test]
fn the_last_number_of_a_user_is_read_and_not_taken() {
    let (mut server, directory) = Server::alone(&[]);
    for path in ["/v1/users/7", "/v1/users/drafts/7"] {
        let current = || server.get(&format!("{path}/current"));
        current().problem(404, "NOT_FOUND");
        assert_eq!(server.post(&format!("{path}/next?count=3")).ids(), [1, 2, 3]);
        assert_eq!([current().id(), current().id()], [3, 3]);
        assert_eq!(server.number(&format!("{path}/next")), 4);
        assert_eq!(server.get("/v1/users/8/current").status, 404);
    }
    server.get("/v1/users/x/current").problem(400, "INVALID_ID");
    assert!(server.end());
    // The store has no number of a single user.
    let server = Server::start(directory.path(), &[]);
    server.get("/v1/users/7/current").problem(404, "NOT_FOUND");
    let next = server.number("/v1/users/7/next");
    assert_eq!(server.get("/v1/users/7/current").id(), next);
}

#[test]
fn the_wrong_server_does_not_know_the_last_number() {
    let directory = directory();
    let servers = [(); 2].map(|()| Server::start(directory.path(), &["--window-ms", "60000"]));
    assert_eq!(servers[0].number("/v1/users/drafts/7/next"), 1);
    let refused = servers[1].get("/v1/users/drafts/7/current").problem(421, "WRONG_SERVER");
    assert_eq!(refused["server"], format!("http://{}", servers[0].http));
    // The other server may have the same users of another set.
    assert_eq!(servers[1].number("/v1/users/7/next"), 1);
    servers[0].post("/v1/users/7/next").problem(421, "WRONG_SERVER");
}

#[test]
fn all_sets_share_one_limit_of_memory() {
    let directory = directory();
    let options = ["--users-memory", "1MiB", "--window-ms", "120000"];
    let servers = [(); 2].map(|()| Server::start(directory.path(), &options));
    // A section takes about 4 kB, so the first ones are given back.
    for set in 0..300 {
        servers[0].number(&format!("/v1/users/set-{set}/7/next"));
    }
    assert!(servers[1].number("/v1/users/set-0/7/next") > 1);
    servers[1].post("/v1/users/set-299/7/next").problem(421, "WRONG_SERVER");
}
