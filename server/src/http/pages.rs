//! The browser pages that may send requests without a token.
//!
//! Any web page can make a browser on this machine send requests here, by an image, a form or a script. The page cannot read
//! the answers, but each request would take a number. The browser names the page's origin in the request.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

use crate::auth::Tokens;

/// The allowed origins, or `None` if all are allowed. A server with a token allows all, as foreign pages do not know the token.
#[derive(Clone, Debug)]
pub struct Pages(Option<Vec<String>>);

impl Pages {
    /// Returns the origins of `--allow-origin`.
    pub fn new(tokens: &Tokens, allowed: &[String]) -> Self {
        let all = allowed.iter().any(|origin| origin == "*");
        Self((!tokens.are_set() && !all).then(|| allowed.to_vec()))
    }

    /// Returns whether a page of an origin that is not allowed sent the request.
    pub fn is_foreign(&self, headers: &HeaderMap) -> bool {
        let Some(allowed) = &self.0 else { return false };
        let mut origins =
            headers.get_all(ORIGIN).into_iter().map(|origin| origin.to_str().unwrap_or("null")).peekable();
        if origins.peek().is_some() {
            let host = headers.get(HOST).and_then(|host| host.to_str().ok());
            let own = |origin: &str| origin.split_once("://").is_some_and(|(_, at)| Some(at) == host);
            return !origins.all(|origin| allowed.iter().any(|allowed| allowed == origin) || own(origin));
        }
        // Requests that need no CORS carry no origin. "same-site" includes other ports of this machine.
        headers.get_all("sec-fetch-site").into_iter().any(|site| site != "same-origin" && site != "none")
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn is_foreign(pages: &Pages, headers: &[(&'static str, &'static str)]) -> bool {
        let pairs =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        pages.is_foreign(&pairs.collect())
    }

    #[test]
    fn a_page_is_foreign_unless_same_origin_or_allowed() {
        let none = Tokens::default();
        let pages = Pages::new(&none, &["https://app.example".to_owned()]);
        let host = ("host", "localhost:8080");
        for headers in [
            &[host][..],
            &[host, ("sec-fetch-site", "none")],
            &[host, ("origin", "http://localhost:8080")],
            &[host, ("origin", "https://app.example"), ("sec-fetch-site", "cross-site")],
        ] {
            assert!(!is_foreign(&pages, headers), "{headers:?}");
        }
        for headers in [
            &[host, ("origin", "http://localhost:8081")][..],
            &[host, ("origin", "https://app.example.evil.example")],
            &[host, ("origin", "https://app.example"), ("origin", "https://evil.example")],
            &[host, ("origin", "")],
            &[host, ("sec-fetch-site", "cross-site")],
            &[host, ("sec-fetch-site", "same-site")],
        ] {
            assert!(is_foreign(&pages, headers), "{headers:?}");
        }
        assert!(!is_foreign(&Pages::new(&none, &["*".to_owned()]), &[host, ("origin", "https://evil.example")]));
    }
}
