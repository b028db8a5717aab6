#!/usr/bin/env bash
# Each store is a feature of its own: it builds without the others, and so do slots without any. With `all`, each one, which
# takes minutes; otherwise those that need no client.
set -euo pipefail
cd "$(dirname "$0")/.."
stores=("" memory file)
[ "${1:-}" = all ] && stores+=(sqlite postgres mysql redis etcd zookeeper zookeeper-tls)
for store in "${stores[@]}"; do
  cargo clippy --quiet --locked -p snowmint-stores ${store:+--features "$store"} -- -D warnings || {
    echo "with ${store:-no feature} alone"
    exit 1
  }
done
