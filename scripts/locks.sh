#!/usr/bin/env bash
# Checks that each Cargo.lock is what its manifests need: some are of workspaces that only benchmarks and proofs build.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*Cargo.lock' | while read -r lock; do
  cargo metadata --quiet --locked --format-version 1 --manifest-path "${lock%.lock}.toml" > /dev/null
done
