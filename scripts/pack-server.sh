#!/usr/bin/env bash
# Builds the program `snowmint` with the inspector in it for this machine, and packs it: pack-server.sh NAME DIRECTORY makes
# DIRECTORY/snowmint-NAME.tar.gz, or .zip on Windows. Before, scripts/build-site.sh must have built the inspector, and
# scripts/sbom.py must have written DIRECTORY/snowmint-NAME.cdx.json.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${SNOWMINT_PROFILE:-release}
packed=snowmint-$1
mkdir -p "$2"
directory=$(cd "$2" && pwd)
sbom=$directory/$packed.cdx.json
[ -e npm/site/dist/index.html ] || { echo "the inspector is not built: run scripts/build-site.sh first" >&2; exit 1; }
# The program names no place of the machine that built it, so that the same sources give the same program anywhere.
cargo_home=${CARGO_HOME:-$HOME/.cargo}
here=$(pwd)
export RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$here=snowmint --remap-path-prefix=$cargo_home=cargo"
cargo build --quiet --locked --profile "$profile" -p snowmint-server --features etcd
program=${CARGO_TARGET_DIR:-target}/$profile/snowmint
[ ! -e "$program.exe" ] || program=$program.exe
if grep --quiet --text --fixed-strings -e "$here/" -e "$cargo_home/" "$program"; then
  echo "$program names paths of this machine" >&2
  exit 1
fi
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
mkdir "$staged/$packed"
cp "$program" LICENSE-APACHE LICENSE-MIT server/README.md "$staged/$packed"
cp "$sbom" "$staged/$packed/snowmint.cdx.json"
cd "$staged"
"$packed/${program##*/}" --version
"$packed/${program##*/}" gen --node 1 > /dev/null
# Nothing listens there. A program without the store says that it lacks the feature.
if "$packed/${program##*/}" lease ls --store 'etcd://127.0.0.1:1?timeout_ms=10' 2>&1 | grep --quiet "feature etcd"; then
  echo "$program has no etcd store" >&2
  exit 1
fi
case $program in
  *.exe) 7z a -bso0 "$directory/$packed.zip" "$packed" ;;
  *) tar -czf "$directory/$packed.tar.gz" "$packed" ;;
esac
