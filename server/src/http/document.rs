//! The `OpenAPI` document: the routes, completed with token and cache headers.

use axum::http::Method;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{OpenApi, RefOr};

use crate::auth::role_of_route;

/// The name of the security scheme.
const TOKEN: &str = "token";

/// Returns the document as JSON.
pub fn document() -> String {
    complete(super::routes().into_openapi()).to_pretty_json().unwrap_or_default()
}

fn complete(mut api: OpenApi) -> OpenApi {
    let bearer = Http::builder()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A token of `--token-file`, `--admin-token-file` or `--metrics-token-file`. A server without these files needs none."))
        .build();
    let mut components = api.components.take().unwrap_or_default();
    components.add_security_scheme(TOKEN, SecurityScheme::Http(bearer));
    api.components = Some(components);
    api.security = Some(vec![SecurityRequirement::default(), SecurityRequirement::new(TOKEN, [""; 0])]);
    for (path, item) in &mut api.paths.paths {
        let operations = [
            (Method::GET, &mut item.get),
            (Method::PUT, &mut item.put),
            (Method::POST, &mut item.post),
            (Method::DELETE, &mut item.delete),
        ];
        for (method, operation) in operations {
            let Some(operation) = operation else { continue };
            if role_of_route(&method, path).is_none() {
                operation.security = Some(vec![]);
            }
            forbid_caches(operation);
        }
    }
    api
}

/// Adds the header that keeps caches from storing an answer.
fn forbid_caches(operation: &mut Operation) {
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response {
            let text = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["no-store"]));
            let header = HeaderBuilder::new().schema(Some(text)).description(Some("Caches must not store the answer."));
            response.headers.insert("Cache-Control".to_owned(), RefOr::T(header.build()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn each_operation_has_a_name_and_described_answers() {
        let document: Value = serde_json::from_str(&document()).expect("JSON");
        let mut names = BTreeSet::new();
        for (path, item) in document["paths"].as_object().expect("paths") {
            for (method, operation) in item.as_object().expect("operations") {
                let name = operation["operationId"].as_str().expect("a name");
                assert!(names.insert(name.to_owned()), "two operations are named {name}");
                for (status, response) in operation["responses"].as_object().expect("responses") {
                    let described = response["description"].as_str().is_some_and(|text| text.len() > 3);
                    assert!(described, "{method} {path}: {status} has no description");
                    let cached = &response["headers"]["Cache-Control"]["schema"]["enum"][0];
                    assert_eq!(cached, "no-store", "{method} {path}: {status}");
                }
            }
        }
        assert_eq!(names.len(), 27);
        assert_eq!(document["components"]["securitySchemes"][TOKEN]["scheme"], "bearer");
        assert_eq!(document["paths"]["/readyz"]["get"]["security"], Value::Array(vec![]));
    }
}
