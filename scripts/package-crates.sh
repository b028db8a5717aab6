#!/usr/bin/env bash
# Packs the Rust crates for crates.io and builds each from its package: package-crates.sh [TAG]. A local registry stands in for
# crates.io, so nothing is published. With a tag the version must be the tag's.
set -euo pipefail
cd "$(dirname "$0")/.."
crates=(snowmint-core snowmint-stores snowmint snowmint-server)
version=$(cargo pkgid --locked -p snowmint)
version=${version##*[#@]}
if [ -n "${1:-}" ] && [ "$1" != "v$version" ]; then
  echo "the crates have version $version, and the tag is $1" >&2
  exit 1
fi
target=${CARGO_TARGET_DIR:-target}
# Cargo takes a version of a registry for unchangeable, and would build the crates as an earlier run has packed them.
rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/snowmint*-"$version"
for built in $(grep -lsE '/(registry/src/-[0-9a-f]+|package)/snowmint' "$target"/debug/deps/snowmint*.d); do
  built=${built##*-}
  rm -rf "$target"/debug/.fingerprint/snowmint*-"${built%.d}"
done
cargo package --quiet --locked --allow-dirty "${crates[@]/#/-p}"
for crate in "${crates[@]}"; do
  package=$target/package/$crate-$version.crate
  files=$(tar -tzf "$package")
  for file in README.md LICENSE-APACHE LICENSE-MIT; do
    grep -qx "$crate-$version/$file" <<< "$files" || { echo "$crate lacks $file" >&2; exit 1; }
  done
  printf '%9d  %s\n' "$(wc -c < "$package")" "${package##*/}"
done
