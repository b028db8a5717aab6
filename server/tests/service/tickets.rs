//! The stores of `--tickets-store`: Flickr's ticket servers, of which any may be down.

use std::collections::BTreeSet;

use snowmint_tests::engines::{Engine, Server as Store};

use super::support::{Server, directory, refused, store};

const TABLE: &str = "CREATE TABLE Tickets64 (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, stub CHAR(1) NOT NULL DEFAULT '', \
                     PRIMARY KEY (id), UNIQUE KEY stub (stub)) ENGINE=InnoDB";

fn ticket(server: &Server) -> u64 {
    server.get("/v1/tickets/photos").id()
}

#[test]
fn servers_of_the_service_share_the_ticket_servers() {
    let directories = [(); 3].map(|()| directory());
    let stores = directories.each_ref().map(|directory| store(directory.path()));
    let options = ["--tickets-store", &stores[1], "--tickets-store", &stores[2]];
    let servers = [(); 2].map(|()| Server::over(&stores[0], &options));
    let mut taken: Vec<u64> = (0..20).map(|turn| ticket(&servers[turn % 2])).collect();
    assert_eq!(servers[0].get("/v1/tickets/albums?count=4").ids(), [1, 2, 3, 4]);
    taken.extend(servers[1].get("/v1/tickets/photos?count=20").ids());
    assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), 40, "{taken:?}");
    assert_eq!(taken.iter().max(), Some(&40), "both servers count: {taken:?}");
    // The store of the service has no tickets.
    let alone = Server::over(&stores[0], &[]);
    assert_eq!(ticket(&alone), 1);
    let swapped = Server::over(&stores[0], &["--tickets-store", &stores[2], "--tickets-store", &stores[1]]);
    swapped.get("/v1/tickets/photos").problem(500, "INVALID_STORE");
}

#[test]
fn a_ticket_server_that_is_down_leaves_each_call_time_for_the_other() {
    let directory = directory();
    let mut away = Store::start(Engine::Redis);
    let there = Store::start(Engine::Redis);
    let options = ["--max-wait-ms", "2000", "--tickets-store", &away.url(), "--tickets-store", &there.url()];
    let server = Server::start(directory.path(), &options);
    let first: BTreeSet<u64> = (0..4).map(|_| ticket(&server)).collect();
    assert_eq!(first, BTreeSet::from([1, 2, 3, 4]));
    away.pause(true);
    // A call waits for a part of its time; further calls ask the other server first, until it is time to try again.
    let later: Vec<u64> = (0..6).map(|_| ticket(&server)).collect();
    assert!(later.iter().all(|ticket| ticket % 2 == 0), "{later:?}");
    away.pause(false);
    away.kill();
    // A service that starts while a ticket server is down gives tickets of names that there are.
    let again = Server::start(directory.path(), &options);
    let ticket = ticket(&again);
    assert!(ticket.is_multiple_of(2) && !later.contains(&ticket), "{ticket}");
    assert!(again.lines("a ticket server does not answer").len() <= 1);
}

#[test]
fn flickrs_tables_are_used_as_they_are() {
    let directory = directory();
    let stores = [Store::start(Engine::Mariadb), Store::start(Engine::Mariadb)];
    for (offset, store) in (1..).zip(&stores) {
        let client = |statement: &str| Engine::Mariadb.client(store.port(), statement);
        client(TABLE);
        // As in the article: the servers count in steps of 2, and have given tickets.
        client(&format!("SET GLOBAL auto_increment_increment = 2; SET GLOBAL auto_increment_offset = {offset}"));
        client("REPLACE INTO Tickets64 (stub) VALUES ('a'); REPLACE INTO Tickets64 (stub) VALUES ('a')");
    }
    let urls = stores.each_ref().map(Store::url);
    let log = directory.path().join("ranges.jsonl");
    let log = log.to_str().expect("text");
    let options = ["--tickets-store", &urls[0], "--tickets-store", &urls[1], "--range-log", log];
    let server = Server::start(directory.path(), &options);
    let taken: BTreeSet<u64> = (0..4).map(|_| ticket(&server)).collect();
    assert_eq!(taken, BTreeSet::from([5, 6, 7, 8]));
    // All names share the numbers, and the row is Flickr's.
    assert!(server.get("/v1/tickets/a%20long%20name").id() > 8);
    let rows: Vec<_> =
        stores.iter().map(|store| Engine::Mariadb.client(store.port(), "SELECT stub FROM Tickets64")).collect();
    assert_eq!(rows, ["a\n", "a\n"]);
    assert_eq!(std::fs::read_to_string(log).expect("a log").matches("Tickets64").count(), 5);
    // Servers must be named in the order of their offsets.
    let swapped = ["--tickets-store", &urls[1], "--tickets-store", &urls[0]];
    let swapped = Server::start(directory.path(), &swapped);
    swapped.get("/v1/tickets/photos").problem(503, "STORE_UNAVAILABLE");
    let line = swapped.logged("a ticket server does not answer");
    assert!(line["error"].as_str().is_some_and(|error| error.contains("in the order of their offsets")), "{line}");
}

#[test]
fn wrong_ticket_stores_end_the_start() {
    for (wrong, why) in [("nonsense", "URL"), ("oracle://db", "oracle")] {
        let (code, said) = refused(&["serve", "--store", "memory:", "--tickets-store", wrong]);
        assert!(code.is_some() && said.contains(why), "{wrong}: {said}");
    }
}
