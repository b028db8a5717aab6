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
cargo package --quiet --locked --allow-dirty "${crates[@]/#/-p}"
for crate in "${crates[@]}"; do
  package=${CARGO_TARGET_DIR:-target}/package/$crate-$version.crate
  files=$(tar -tzf "$package")
  for file in README.md LICENSE-APACHE LICENSE-MIT; do
    grep -qx "$crate-$version/$file" <<< "$files" || { echo "$crate lacks $file" >&2; exit 1; }
  done
  printf '%9d  %s\n' "$(wc -c < "$package")" "${package##*/}"
done
