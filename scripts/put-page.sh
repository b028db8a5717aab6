#!/usr/bin/env bash
# Puts the inspector into the folder of the crate snowmint-server, whose package contains it. scripts/build-site.sh must have
# built the page.
set -euo pipefail
cd "$(dirname "$0")/.."
page=npm/site/dist/index.html
[ -e $page ] || { echo "the inspector is not built: run scripts/build-site.sh first" >&2; exit 1; }
mkdir -p server/page
cp $page server/page/
