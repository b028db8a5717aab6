//! The query parameters of each path. Another parameter is refused: a misspelt `count` would take one number.

use std::collections::BTreeMap;

use axum::extract::Query;
use axum::http::{Method, StatusCode, Uri};
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::{OpenApi, RefOr};

use super::problem::Problem;

/// The tag of Leaf's endpoints, which ignore a query as Leaf does: its clients may send one.
const LEAF: &str = "leaf";

/// The parameters that each route takes with a method, as the document says.
#[derive(Debug)]
pub struct Queries(BTreeMap<String, Vec<(Method, Vec<String>)>>);

impl Queries {
    pub fn of(document: &OpenApi) -> Self {
        let mut routes = BTreeMap::from([("/openapi.json".to_owned(), vec![(Method::GET, Vec::new())])]);
        for (path, item) in &document.paths.paths {
            let operations = [
                (Method::GET, &item.get),
                (Method::PUT, &item.put),
                (Method::POST, &item.post),
                (Method::DELETE, &item.delete),
            ];
            let operations =
                operations.into_iter().filter_map(|(method, operation)| Some((method, operation.as_ref()?)));
            let of_path = operations.filter(|(_, operation)| !is_of_leaf(operation));
            routes.insert(path.clone(), of_path.map(|(method, operation)| (method, parameters(operation))).collect());
        }
        Self(routes)
    }

    /// Returns the problem of a request with a parameter that its route does not take.
    pub fn refuse(&self, route: &str, method: &Method, uri: &Uri) -> Option<Problem> {
        // The handler of the route refuses an unreadable query.
        let Query(sent) = Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let (_, known) = self.0.get(route)?.iter().find(|(of, _)| of == method)?;
        let (strange, _) = sent.iter().find(|(name, _)| !known.contains(name))?;
        let strange: String = strange.chars().take(100).collect();
        let takes = match known.as_slice() {
            [] => "takes no query parameters".to_owned(),
            known => format!("takes only the query parameters {}", known.join(", ")),
        };
        let detail = format!("{strange:?} is no parameter of this path, which {takes}");
        Some(Problem::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", detail))
    }
}

fn is_of_leaf(operation: &Operation) -> bool {
    operation.tags.iter().flatten().any(|tag| tag == LEAF)
}

fn parameters(operation: &Operation) -> Vec<String> {
    let of_query = |parameter: &RefOr<_>| match parameter {
        RefOr::T(Parameter { name, parameter_in: ParameterIn::Query, .. }) => Some(name.clone()),
        _ => None,
    };
    operation.parameters.iter().flatten().filter_map(of_query).collect()
}
