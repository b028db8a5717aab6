#!/usr/bin/env bash
# Builds the addon for Node into the npm package of this machine's platform or of PLATFORM: build-node.sh [PLATFORM].
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${SNOWMINT_PROFILE:-release}
platform=${1:-$(node npm/scripts/platform.mjs)}
case $platform in
  darwin-*) built=libsnowmint_node.dylib ;;
  win32-*) built=snowmint_node.dll ;;
  *) built=libsnowmint_node.so ;;
esac
cargo build --quiet --locked --profile "$profile" -p snowmint-node
# A running process may have the old file mapped: put a new one in its place.
install "${CARGO_TARGET_DIR:-target}/${profile/#dev/debug}/$built" "npm/platforms/$platform/snowmint.$platform.node"
