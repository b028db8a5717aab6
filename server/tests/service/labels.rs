//! Labels of holders, as other clients of the service see them.

use serde_json::{Value, json};
use snowmint_core::lease::Record;
use snowmint_core::{SystemHost, Window, layouts, shown};
use snowmint_stores::connect;

use super::support::{Answer, Server, directory, store};

fn claim(server: &Server, namespace: &str, label: &Value, node: u32) -> Answer {
    let body = json!({"nonce": format!("{:032x}", rand::random::<u128>()), "label": label, "node": node});
    let path = format!("/v1/namespaces/{namespace}/leases");
    server.ask("POST", &path, &[("content-type", "application/json")], &body.to_string())
}

#[test]
fn a_claim_with_control_characters_in_its_label_is_refused() {
    let (server, _directory) = Server::alone(&[]);
    for (label, place) in
        [("web\u{1b}[2J", 4), ("\n", 1), ("a\u{202e}b", 2), ("a\u{9b}31m", 2), ("ok\0", 3), ("\u{7f}", 1)]
    {
        let problem = claim(&server, "orders", &json!(label), 0).problem(400, "INVALID_TEXT");
        let detail = problem["detail"].as_str().expect("a text");
        assert!(detail.starts_with(&format!("character {place} of the label is a control")), "{label:?}: {detail}");
    }
    assert_eq!(claim(&server, "orders", &json!("Käse \\ 東京"), 0).status, 201, "no claim before took the node");
    assert_eq!(claim(&server, "orders", &Value::Null, 1).status, 201);
    let listed = server.get("/v1/namespaces/orders/leases").json();
    assert_eq!(
        (&listed["leases"][0]["label"], &listed["leases"][1]["label"]),
        (&json!("Käse \\ 東京"), &json!("over HTTP"))
    );
}

#[test]
fn clients_get_labels_of_others_escaped() {
    let directory = directory();
    let now_ms = SystemHost::unix_ms();
    let mut label = [0; 60];
    label[..11].copy_from_slice(b"web\x1b[2J\n\xe2\x80\xae");
    let window = Window { start_ms: now_ms, end_ms: now_ms + 600_000 };
    let layout = layouts::SNOWMINT.layout_id().identity();
    let record = Record { released: false, serial: 1, window, nonce: 5, label, layout };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let store = connect(&store(directory.path())).await.expect("a store");
        let text = format!("{} nodes=1", layouts::SNOWMINT);
        store.write("layouts/orders", text.as_bytes(), 0).await.expect("written");
        store.write("leases/orders/0", &record.to_bytes(), 0).await.expect("written");
        store.close().await;
    });
    let server = Server::start(directory.path(), &[]);
    let problem = claim(&server, "orders", &json!("me"), 0).problem(503, "NODES_EXHAUSTED");
    let detail = problem["detail"].as_str().expect("a text");
    assert!(
        detail.ends_with(r"(its holder is web\u{1b}[2J\n\u{202e})") && !detail.contains(shown::is_hidden),
        "{detail:?}"
    );
    let listed = server.get("/v1/namespaces/orders/leases").json();
    assert_eq!(listed["leases"][0]["label"], r"web\u{1b}[2J\n\u{202e}");
}
