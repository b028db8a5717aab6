#!/usr/bin/env bash
# Packs the Rust crates and builds each from its package: package-crates.sh [TAG]. An SBOM lies beside each package.
# scripts/build-site.sh must have built the inspector. Nothing is published. With a tag the version must be the tag's.
set -euo pipefail
cd "$(dirname "$0")/.."
crates=(snowmint-core snowmint-inspect snowmint-stores snowmint snowmint-sqlx snowmint-cli snowmint-server)
version=$(cargo pkgid --locked -p snowmint)
version=${version##*[#@]}
[ "${1:-v$version}" = "v$version" ] || { echo "the crates have version $version, and the tag is $1" >&2; exit 1; }
target=${CARGO_TARGET_DIR:-target}
# Cargo takes a version of a registry for unchangeable, and would build the crates as an earlier run has packed them.
rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/snowmint*-"$version" "$target"/debug/.fingerprint/snowmint*
cargo package --quiet --locked --allow-dirty "${crates[@]/#/-p}"
for crate in "${crates[@]}"; do
  package=$target/package/$crate-$version.crate
  # Fails if a file is not in the package.
  tar -tzf "$package" "$crate-$version"/{README.md,LICENSE-APACHE,LICENSE-MIT} > /dev/null
  .venv/bin/python scripts/sbom.py "$crate" "$target/package/$crate.cdx.json"
  printf '%9d  %s\n' "$(wc -c < "$package")" "${package##*/}"
done
# `cargo install snowmint-server` builds the service with the inspector.
tar -tzf "$target/package/snowmint-server-$version.crate" "snowmint-server-$version/page/index.html" > /dev/null
