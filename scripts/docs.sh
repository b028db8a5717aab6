#!/usr/bin/env bash
# Builds target/docs/site/index.html: the guides, the inspector, and the references of Python, JavaScript and Rust.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh protoc maturin docs
scripts/build-site.sh
scripts/install-python.sh

rm -rf target/docs
mkdir -p target/docs/pages
cp docs/*.md docs/*.svg target/docs/pages/
cp benches/README.md target/docs/pages/speed.md
cp benches/speed.svg target/docs/pages/
cp CHANGELOG.md target/docs/pages/changes.md
# The info string of a block may say more than its language (docs/tests/test_blocks.py).
sed -i -E 's/^( *```[a-z]+)[ ,].*$/\1/' target/docs/pages/*.md
cp docs/site/zensical.toml target/docs/
cp docs/site/extra.css target/docs/pages/
(cd target/docs && ../../.venv/bin/zensical build --strict)

site=$PWD/target/docs/site
# The search of a page that is opened as a file, from the folder instead of from the network.
cp docs/site/node_modules/iframe-worker/shim/index.js "$site/assets/iframe-worker.js"
sed -i 's|https://unpkg.com/iframe-worker/shim|assets/iframe-worker.js|' "$site"/*.html

mkdir -p "$site/inspector"
cp npm/site/dist/index.html "$site/inspector/"
(cd docs/site && node_modules/.bin/typedoc --logLevel Warn --out "$site/reference/javascript")
.venv/bin/python docs/site/python_reference.py "$site/reference/python"
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --features snowmint/all,snowmint/audit,snowmint/uuid,snowmint/serde,snowmint/tokio \
  -p snowmint -p snowmint-sqlx -p snowmint-cli -p snowmint-stores -p snowmint-inspect -p snowmint-core --target-dir target
mkdir -p "$site/reference/rust"
cp -r target/doc/. "$site/reference/rust/"
echo "$site/index.html"
