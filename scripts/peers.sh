#!/usr/bin/env bash
# Shows failures of other packages, at the versions in tests/peers (docs/record.md): peers.sh [SCENE...]
#   fork       a process forks             threads    worker threads of Node      processes  processes of Node
#   clock      a clock stops or goes back  overflow   fields that are full        copy       copies of a generator
#   numbers    IDs as numbers of JavaScript
#   stores     kills of Redis, PostgreSQL and MariaDB (scripts/setup.sh servers)
# Without a scene it plays all. Packages are installed into .cache/peers, and nothing else is changed.
set -euo pipefail
cd "$(dirname "$0")/.."
scenes=("$@")
[ $# -gt 0 ] || scenes=(fork threads processes clock overflow copy numbers stores)
there=.cache/peers
mkdir -p $there

python() {
  python3 -m venv $there/venv
  $there/venv/bin/pip install --quiet --disable-pip-version-check -r tests/peers/requirements.txt
  $there/venv/bin/python -Wignore tests/peers/scenes.py "$1"
}
node() {
  cp tests/peers/package.json $there/
  npm install --prefix $there --silent --no-fund --no-audit --ignore-scripts
  command node tests/peers/scenes.mjs "$1"
}
rust() {
  # An optimised build, in which assertions for debugging are gone, as they are for users.
  cargo run --quiet --locked --release --manifest-path tests/peers/Cargo.toml --target-dir $there/target -- "$1"
}

for scene in "${scenes[@]}"; do
  case $scene in
    fork) python fork; rust fork ;;
    clock | copy) python "$scene" ;;
    threads | processes | numbers) node "$scene" ;;
    overflow) python overflow; node overflow; rust overflow ;;
    stores) python3 tests/peers/stores.py ;;
    *) echo "peers.sh: there is no scene $scene" >&2; exit 2 ;;
  esac
done
