use std::collections::HashSet;
use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use snowmint::{Id, layouts};
use sqlx::{Connection, PgConnection};

/// A process of the program; it ends with this value.
struct Server(Child, String);

impl Server {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orders"));
        let mut child = command.env("PORT", "0").stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.next().expect("the program prints its address").unwrap();
        Self(child, url)
    }

    fn create(&self, item: &str) -> Value {
        let request = ureq::post(format!("{}/orders", self.1));
        let mut response = request.send_json(json!({ "item": item })).unwrap();
        assert_eq!(response.status(), 201);
        response.body_mut().read_json().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn two_processes_insert_orders_with_different_ids() {
    let mut servers = [Server::start(), Server::start()];
    let orders: Vec<Value> = thread::scope(|scope| {
        let clients = [&servers[0], &servers[1], &servers[0], &servers[1]].map(|server| {
            scope.spawn(move || (0..100).map(|n| server.create(&format!("item {n}"))).collect::<Vec<_>>())
        });
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });

    let ids: HashSet<Id> =
        orders.iter().map(|order| order["id"].as_str().expect("a string").parse().unwrap()).collect();
    assert_eq!(ids.len(), 400);
    let nodes: HashSet<u64> = ids.iter().map(|id| layouts::SNOWMINT.decode(*id).unwrap().node.into()).collect();
    assert_eq!(nodes.len(), 2);

    let mut database = PgConnection::connect(&env::var("DATABASE_URL").unwrap()).await.unwrap();
    let select = "SELECT id, pg_typeof(id)::text FROM orders";
    let rows: Vec<(snowmint_sqlx::Id, String)> = sqlx::query_as(select).fetch_all(&mut database).await.unwrap();
    assert!(rows.iter().all(|(_, column)| column == "bigint"));
    assert_eq!(rows.into_iter().map(|(id, _)| id.get()).collect::<HashSet<_>>(), ids);

    // An order is found by the ID that a client got, in the other process too.
    let url = |id: &Value| format!("{}/orders/{}", servers[1].1, id.as_str().unwrap());
    let found: Value = ureq::get(url(&orders[0]["id"])).call().unwrap().body_mut().read_json().unwrap();
    assert_eq!(found, orders[0]);
    let missing = ureq::get(url(&json!("1"))).call().unwrap_err();
    assert!(matches!(missing, ureq::Error::StatusCode(404)), "{missing}");

    // A process that is asked to stop gives its node back and ends well.
    for Server(process, _) in &mut servers {
        assert!(Command::new("kill").arg(process.id().to_string()).status().unwrap().success());
        assert!(process.wait().unwrap().success());
    }
}
