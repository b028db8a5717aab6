#!/usr/bin/env bash
# Tests the npm packages of scripts/package.sh in Deno, Bun, workerd and Vercel's edge runtime, and with bundlers and
# compilers.
set -euo pipefail
cd "$(dirname "$0")/.."
runtimes=npm/runtimes
if [ ! -d "$runtimes/node_modules" ] || ! cmp -s "$runtimes/package-lock.json" "$runtimes/node_modules/installed"; then
  echo "installing hosts and bundlers"
  npm ci --prefix "$runtimes" --ignore-scripts --loglevel=error --no-fund --no-audit
  cp "$runtimes/package-lock.json" "$runtimes/node_modules/installed"
fi
node --test "$runtimes"/*.test.mjs
