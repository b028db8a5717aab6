#!/usr/bin/env bash
# Checks the crates with the oldest Rust that their manifests promise, which rustup installs: msrv.sh [crates|sql]. SQL engines,
# and so the service, need a later one than the other crates.
set -euo pipefail
cd "$(dirname "$0")/.."
oldest() { sed -n 's/^rust-version = "\(.*\)"/\1/p' "$1"; }
checked() { # RUST ARGUMENT...
  echo "Rust $1: ${*:2}"
  cargo "+$1" check --quiet --locked "${@:2}"
}
without_sql=memory,file,redis,etcd,zookeeper,nats
parts=("$@")
[ $# -gt 0 ] || parts=(crates sql)
for part in "${parts[@]}"; do
  case $part in
    crates)
      rust=$(oldest Cargo.toml)
      rustup toolchain install --profile minimal "$rust"
      checked "$rust" -p snowmint-core --all-features
      checked "$rust" -p snowmint-core --no-default-features
      checked "$rust" -p snowmint-inspect --all-features
      checked "$rust" -p snowmint-cli
      checked "$rust" -p snowmint-stores
      checked "$rust" -p snowmint-stores --features "$without_sql"
      checked "$rust" -p snowmint --features "$without_sql,audit,serde,tokio,uuid"
      ;;
    sql)
      rust=$(oldest server/Cargo.toml)
      rustup toolchain install --profile minimal "$rust"
      checked "$rust" -p snowmint --features all,audit,serde,tokio,uuid
      checked "$rust" -p snowmint-sqlx
      checked "$rust" -p snowmint-server --features etcd
      ;;
    *)
      echo "no such part: $part" >&2
      exit 1
      ;;
  esac
done
