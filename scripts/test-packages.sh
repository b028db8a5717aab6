#!/usr/bin/env bash
# Installs exactly what scripts/package.sh made into empty projects, and uses it as a newcomer would: that of npm in the
# hosts and bundlers that it is for, too.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
dist=$root/dist
# Nothing of the source tree is to be found from here.
cd /

echo "# the wheel"
python3 "$root/scripts/try_package.py" "$dist"

echo "# the sdist, built by pip"
python3 "$root/scripts/try_package.py" "$dist"/snowmint-*.tar.gz

echo "# npm, with the addon"
node "$root/scripts/try_npm.mjs" "$dist/npm"

echo "# npm, without the addon"
node "$root/scripts/try_npm.mjs" --without-addon "$dist/npm"

echo "# npm, in other hosts and by bundlers"
"$root/scripts/test-runtimes.sh"

echo "4 passed, 0 failed"
