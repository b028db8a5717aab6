//! Several servers on one store.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use redis::Commands as _;
use tempfile::TempDir;

use super::support::{Server, assert_increasing, assert_unique};

#[test]
fn two_servers_share_a_store_and_no_number() {
    let directory = TempDir::new().expect("a directory");
    let servers = [(); 2].map(|()| Server::start(directory.path(), &["--step", "50"]));
    let (mut ids, mut keys, mut tickets) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..100 {
        for server in &servers {
            ids.extend(server.get("/v1/ids?count=10").ids());
            tickets.push(server.get("/v1/tickets/t").id());
        }
    }
    let mut clients = [servers[0].client(), servers[1].client()];
    for _ in 0..2000 {
        keys.extend(clients.iter_mut().map(|client| client.incr::<_, _, u64>("k", 1).expect("a number")));
    }
    assert_eq!((ids.len(), keys.len(), tickets.len()), (2000, 4000, 200));
    [ids, keys, tickets].into_iter().for_each(assert_unique);
}

#[test]
fn a_user_has_one_server_and_another_one_after_its_death() {
    let directory = TempDir::new().expect("a directory");
    let options = ["--window-ms", "1500", "--max-wait-ms", "200"];
    let (mut first, second) = (Server::start(directory.path(), &options), Server::start(directory.path(), &options));
    let path = "/v1/users/42/next";
    let mut numbers: Vec<u64> = (0..5).map(|_| first.post(path).id()).collect();
    let told = second.post(path).problem(421, "WINDOW_CLOSED");
    let detail = told["detail"].as_str().expect("a text");
    assert!(detail.contains(&format!("http://{}", first.http)), "{detail} names the server that has the user");
    numbers.push(first.post(path).id());
    first.kill();
    let killed = Instant::now();
    loop {
        let answer = second.post(path);
        if answer.status == 200 {
            numbers.push(answer.id());
            break;
        }
        assert!(killed.elapsed() < Duration::from_secs(10), "nobody took over: {answer:?}");
        thread::sleep(Duration::from_millis(20));
    }
    println!("taken over after {} ms", killed.elapsed().as_millis());
    numbers.push(second.post(path).id());
    assert_increasing(&numbers);
}

/// One client's numbers of a user, from whichever server has it.
fn numbers_of(user: u64, servers: &[RwLock<Arc<Server>>; 2], over: &AtomicBool) -> Vec<u64> {
    let mut numbers = Vec::new();
    while !over.load(Ordering::Relaxed) {
        for server in servers {
            let server = Arc::clone(&server.read().expect("no panic"));
            let answer = server.try_ask("POST", &format!("/v1/users/{user}/next"), &[], "");
            numbers.extend(answer.ok().filter(|answer| answer.status == 200).map(|answer| answer.id()));
        }
    }
    numbers
}

#[test]
fn users_go_on_while_one_server_after_the_other_is_killed() {
    let directory = TempDir::new().expect("a directory");
    let start =
        || Server::start(directory.path(), &["--window-ms", "1000", "--max-wait-ms", "100", "--section-size", "2"]);
    let servers = [(); 2].map(|()| RwLock::new(Arc::new(start())));
    let (over, ids) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let ledgers = thread::scope(|scope| {
        let (servers, over, ids) = (&servers, &over, &ids);
        // Two sections of two users, and a client each; another one for IDs.
        let users: Vec<_> = (0..4).map(|user| scope.spawn(move || numbers_of(user, servers, over))).collect();
        scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                for server in servers {
                    let server = Arc::clone(&server.read().expect("no panic"));
                    let answer = server.try_ask("GET", "/v1/ids?count=3", &[], "").ok();
                    let got = answer.filter(|answer| answer.status == 200).map(|answer| answer.ids());
                    ids.lock().expect("no panic").extend(got.into_iter().flatten());
                }
            }
        });
        for round in 0..6 {
            thread::sleep(Duration::from_millis(1500));
            let place = &servers[round % 2];
            let pid = place.read().expect("no panic").pid().to_string();
            assert!(std::process::Command::new("kill").args(["-9", &pid]).status().expect("kill").success());
            // For a while there is the other one alone.
            thread::sleep(Duration::from_millis(500));
            *place.write().expect("no panic") = Arc::new(start());
        }
        thread::sleep(Duration::from_millis(1500));
        over.store(true, Ordering::Relaxed);
        users.into_iter().map(|user| user.join().expect("no panic")).collect::<Vec<_>>()
    });
    for numbers in &ledgers {
        assert!(numbers.len() > 20, "there was no load: {}", numbers.len());
        assert_increasing(numbers);
    }
    let ids = ids.into_inner().expect("no panic");
    println!("{} IDs, {} numbers of users", ids.len(), ledgers.iter().map(Vec::len).sum::<usize>());
    assert_unique(ids);
}
