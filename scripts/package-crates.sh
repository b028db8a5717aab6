#!/usr/bin/env bash
# Packs the Rust crates, builds each from its package, runs a program of a user on them, and installs the service:
# package-crates.sh [TAG]. An SBOM lies beside each package. scripts/build-site.sh must have built the inspector.
# Nothing is published. With a tag the version must be the tag's.
set -euo pipefail
cd "$(dirname "$0")/.."
crates=(snowmint-core snowmint-inspect snowmint-stores snowmint snowmint-sqlx snowmint-cli snowmint-server)
version=$(cargo pkgid --locked -p snowmint)
version=${version##*[#@]}
if [ -n "${1:-}" ] && [ "$1" != "v$version" ]; then
  echo "the crates have version $version, and the tag is $1" >&2
  exit 1
fi
target=${CARGO_TARGET_DIR:-target}
# Cargo takes a version of a registry for unchangeable, and would build the crates as an earlier run has packed them.
rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/snowmint*-"$version"
for built in $(grep -lsE '/(registry/src/-[0-9a-f]+|package)/snowmint' "$target"/debug/deps/snowmint*.d); do
  built=${built##*-}
  rm -rf "$target"/debug/.fingerprint/snowmint*-"${built%.d}"
done
scripts/put-page.sh
cargo package --quiet --locked --allow-dirty "${crates[@]/#/-p}"
for crate in "${crates[@]}"; do
  package=$target/package/$crate-$version.crate
  files=$(tar -tzf "$package")
  for file in README.md LICENSE-APACHE LICENSE-MIT; do
    grep -qx "$crate-$version/$file" <<< "$files" || { echo "$crate lacks $file" >&2; exit 1; }
  done
  .venv/bin/python scripts/sbom.py "$crate" "$target/package/$crate.cdx.json"
  printf '%9d  %s\n' "$(wc -c < "$package")" "${package##*/}"
done

# A user's project: an own store, an own clock, tokio and serde; and a column of sqlx.
user=$target/user
rm -rf "$user"
mkdir -p "$user/src/bin"
for crate in snowmint-core snowmint-inspect snowmint-stores snowmint snowmint-sqlx snowmint-cli; do
  tar -xzf "$target/package/$crate-$version.crate" -C "$user"
done
cp rust/examples/own.rs "$user/src/bin/own.rs"
sed -n '/^```rust$/,/^```$/{//!p}' sqlx/README.md > "$user/src/bin/column.rs"
cp Cargo.lock "$user"
cat > "$user/Cargo.toml" << END
[package]
name = "user"
edition = "2024"

[workspace]

[dependencies]
async-trait = "0.1"
serde_json = "1"
snowmint = { version = "$version", features = ["memory", "serde", "tokio"] }
snowmint-sqlx = "$version"
sqlx = { version = "0.9", default-features = false, features = ["runtime-tokio", "sqlite-bundled"] }
tokio = { version = "1", features = ["macros", "rt-multi-thread"] }

[patch.crates-io]
snowmint = { path = "snowmint-$version" }
snowmint-core = { path = "snowmint-core-$version" }
snowmint-inspect = { path = "snowmint-inspect-$version" }
snowmint-sqlx = { path = "snowmint-sqlx-$version" }
snowmint-stores = { path = "snowmint-stores-$version" }
END
for program in own column; do
  CARGO_TARGET_DIR=$(realpath "$target") cargo run --quiet --offline --manifest-path "$user/Cargo.toml" --bin "$program"
done

# A user's `cargo install snowmint-server`: the service has the inspector.
installed=$target/installed
rm -rf "$installed"
mkdir -p "$installed"
tar -xzf "$target/package/snowmint-server-$version.crate" -C "$installed"
patches=()
for crate in snowmint-core snowmint-inspect snowmint-stores snowmint snowmint-cli; do
  patches+=(--config "patch.crates-io.$crate.path=\"$(realpath "$user/$crate-$version")\"")
done
cp Cargo.lock "$installed/snowmint-server-$version"
# Symbols for debuggers would double the time.
printf '\n[workspace]\n\n[profile.dev]\ndebug = false\n' >> "$installed/snowmint-server-$version/Cargo.toml"
CARGO_TARGET_DIR=$(realpath "$target") cargo install --quiet --offline --debug --root "$installed" \
  --path "$installed/snowmint-server-$version" "${patches[@]}"
cat > "$installed/page.py" << 'END'
import re, subprocess, sys, tempfile, urllib.request

with tempfile.TemporaryDirectory() as directory:
    options = ["--http", "127.0.0.1:0", "--redis", "off", "--store", f"sqlite:{directory}/ids.db?allow_unsafe=true"]
    service = subprocess.Popen([sys.argv[1], "serve", *options], stderr=subprocess.PIPE, text=True)
    try:
        log = ""
        while not (found := re.search(r"http=\W*(127\.0\.0\.1:\d+)", log)):
            line = service.stderr.readline()
            assert line, f"the service ended: {log}"
            log += line
        page = urllib.request.urlopen(f"http://{found[1]}/", timeout=30).read().decode()
    finally:
        service.kill()
assert page.startswith("<!doctype html>") and "snowmint" in page, f"not the inspector: {page[:200]}"
print(f"{len(page):9}  bytes of the inspector in the installed service")
END
python3 "$installed/page.py" "$installed/bin/snowmint"
