#!/usr/bin/env bash
# Publishes the Rust crates, each after the crates that it needs. Published versions are skipped, so that an interrupted run
# can be repeated. scripts/build-site.sh has built the inspector, and package-crates.sh the packages: a build here would hand the
# token to every build script.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(cargo pkgid --locked -p snowmint)
version=${version##*[#@]}
for crate in snowmint-core snowmint-inspect snowmint-stores snowmint snowmint-sqlx snowmint-cli snowmint-server; do
  if cargo info --quiet --registry crates-io "$crate@$version" > /dev/null 2>&1; then
    echo "$crate $version is there"
  else
    # The inspector in the package is not committed.
    cargo publish --locked --no-verify --allow-dirty -p "$crate"
  fi
done
