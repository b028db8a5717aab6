#!/usr/bin/env bash
# Builds the service with the inspector in it, and starts it: serve.sh [OPTION...], as `snowmint serve`.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build-site.sh
exec cargo run --quiet --locked --release -p snowmint-server -- serve "$@"
