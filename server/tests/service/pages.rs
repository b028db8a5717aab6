//! Pages of other origins in a browser on this machine: they cannot read answers, but they can send requests.

use super::support::{Server, TOKEN};

#[test]
fn a_request_of_a_foreign_page_takes_no_number() {
    let (server, directory) = Server::alone(&["--allow-origin", "https://app.example"]);
    let own = format!("http://{}", server.http);
    let foreign: [&[(&str, &str)]; 6] = [
        // An image, a form or a script of another site, or of another port of this machine.
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")],
        &[("origin", "https://evil.example")],
        &[("origin", "http://localhost:1")],
        &[("origin", "null")],
    ];
    let posts = ["/v1/sequences/s/next", "/v1/users/1/next"];
    let gets = ["/v1/tickets/t", "/v1/ids", "/api/snowflake/get/any", "/metrics"];
    for headers in foreign {
        for (method, paths) in [("GET", &gets[..]), ("POST", &posts)] {
            for path in paths {
                server.ask(method, path, headers, "").problem(403, "ORIGIN_NOT_ALLOWED");
            }
        }
    }
    assert_eq!(server.metric("snowmint_numbers_total", "http"), 0);
    let near: [&[(&str, &str)]; 5] = [
        &[],
        &[("sec-fetch-site", "none")],
        &[("sec-fetch-site", "same-origin")],
        &[("sec-fetch-site", "same-origin"), ("origin", &own)],
        &[("sec-fetch-site", "cross-site"), ("origin", "https://app.example")],
    ];
    for (number, headers) in (1..).zip(near) {
        assert_eq!(server.ask("POST", posts[0], headers, "").ids(), [number], "{headers:?}");
    }
    // A link to the inspector, and answers without a number.
    for path in ["/", "/healthz"] {
        assert_eq!(server.ask("GET", path, &[("sec-fetch-site", "cross-site")], "").status, 200, "{path}");
    }
    // No page knows the token.
    let file = directory.path().join("token");
    std::fs::write(&file, TOKEN).expect("written");
    let guarded = Server::start(directory.path(), &["--token-file", file.to_str().expect("text")]);
    let known = [("authorization", &*format!("Bearer {TOKEN}")), ("origin", "https://evil.example")];
    assert_eq!(guarded.ask("GET", "/v1/ids", &known, "").status, 200);
}
