//! Checks whether the inspector's page was built, for the feature `page`.

use std::path::Path;

fn main() {
    let page = Path::new("../npm/site/dist/index.html");
    println!("cargo::rustc-check-cfg=cfg(has_page)");
    println!("cargo::rerun-if-changed={}", page.display());
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_PAGE").is_none() {
        return;
    }
    if page.is_file() {
        println!("cargo::rustc-cfg=has_page");
    } else {
        println!(
            "cargo::warning=the inspector is left out because its page is not built: run scripts/build-site.sh first"
        );
    }
}
