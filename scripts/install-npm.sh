#!/usr/bin/env bash
# Packs the npm packages and unpacks them beside npm's tests, which import them from there.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/pack-npm.sh target/packages
modules=npm/tests/node_modules
rm -rf "$modules"
for tarball in target/packages/*.tgz; do
  name=$(basename "$tarball" | sed 's/-[0-9][^-]*\.tgz$//')
  mkdir -p "$modules/$name"
  tar -xzf "$tarball" -C "$modules/$name" --strip-components=1
done
