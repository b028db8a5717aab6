//! Finds the inspector's page, for the feature `page`: a package of this crate contains it, and in the repository
//! scripts/build-site.sh builds it.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_page)");
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_PAGE").is_none() {
        return;
    }
    let in_repository = Path::new("../npm/site").is_dir();
    let page = if in_repository { "../npm/site/dist/index.html" } else { "page/index.html" };
    // A file that is missing would count as changed in every build.
    println!("cargo::rerun-if-changed={}", if Path::new(page).is_file() { page } else { "../npm/site" });
    let directory = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let path = Path::new(&directory).join(page);
    if path.is_file() {
        println!("cargo::rustc-cfg=has_page");
        println!("cargo::rustc-env=SNOWMINT_PAGE={}", path.display());
    } else if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        // Builds for tests may lack it.
        println!(
            "cargo::warning=the inspector is left out because its page is not built: run scripts/build-site.sh first"
        );
    }
}
