#!/usr/bin/env bash
# Each store is a feature of its own: it builds without the others, and so do slots without any.
set -euo pipefail
cd "$(dirname "$0")/.."
for store in "" memory file sqlite postgres mysql redis etcd zookeeper; do
  cargo clippy --quiet --locked -p snowmint-stores ${store:+--features "$store"} -- -D warnings || {
    echo "with ${store:-no feature} alone"
    exit 1
  }
done
