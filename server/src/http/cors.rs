//! CORS: lets pages of the origins in `--allow-origin` read answers.

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Method};
use tower_http::cors::{AllowOrigin, CorsLayer};

use snowmint_cli::Exit;

/// Reads one origin of `--allow-origin`, or `*`.
pub fn origins(text: &str) -> Result<String, String> {
    let fits = text == "*"
        || text.split_once("://").is_some_and(|(scheme, host)| {
            matches!(scheme, "http" | "https")
                && Authority::try_from(host).is_ok()
                && !host.contains(|letter: char| matches!(letter, '@' | '*') || letter.is_ascii_uppercase())
        });
    if fits {
        Ok(text.to_owned())
    } else {
        Err("write an origin without a path and in lower case, such as https://app.example, or * for all".to_owned())
    }
}

/// Returns the layer that answers preflight requests and names the allowed origin.
///
/// # Errors
/// `Wrong`, if an origin cannot be in a header.
pub fn layer(origins: &[String]) -> Result<CorsLayer, Exit> {
    let origin = if origins.iter().any(|origin| origin == "*") {
        AllowOrigin::any()
    } else {
        let origins: Result<Vec<HeaderValue>, _> = origins.iter().map(|origin| origin.parse()).collect();
        AllowOrigin::list(origins.map_err(|error| Exit::Wrong(format!("--allow-origin: {error}")))?)
    };
    Ok(CorsLayer::new()
        .allow_origin(origin)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([AUTHORIZATION, CONTENT_TYPE])
        .expose_headers([RETRY_AFTER])
        .max_age(std::time::Duration::from_hours(1)))
}
