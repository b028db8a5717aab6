#!/usr/bin/env bash
# Checks that each store's feature of snowmint and snowmint-stores builds without the other stores, and that slots build
# without any store. With `all`
# it checks every store, which takes minutes; otherwise only the stores that need no client.
set -euo pipefail
cd "$(dirname "$0")/.."
stores=("" memory file)
[ "${1:-}" = all ] && stores+=(sqlite postgres mysql redis etcd zookeeper nats)
for store in "${stores[@]}"; do
  cargo clippy --quiet --locked -p snowmint -p snowmint-stores ${store:+--features "snowmint/$store"} -- -D warnings || {
    echo "with ${store:-no feature} alone"
    exit 1
  }
done
