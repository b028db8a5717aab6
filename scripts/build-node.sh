#!/usr/bin/env bash
# The addon for Node, in the package of this platform, which npm has linked beside the others.
set -euo pipefail
cd "$(dirname "$0")/.."
platform=linux-x64-gnu
file=snowmint.$platform.node
cargo build --quiet --locked --release -p snowmint-node
# A running process may have the old file mapped: put a new one in its place.
install "${CARGO_TARGET_DIR:-target}/release/libsnowmint_node.so" "npm/platforms/$platform/$file"
