#!/usr/bin/env bash
# Installs exactly what scripts/package.sh made into empty projects, and uses it as a newcomer would.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
dist=$root/dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# Slots of its own: those of the machine belong to whatever runs on it.
export SNOWMINT_STATE_DIR="$work/state"

echo "# the wheel"
python3 "$root/scripts/try_package.py" "$dist"

echo "# the sdist, built by pip"
python3 "$root/scripts/try_package.py" "$dist"/snowmint-*.tar.gz

cat > use.mjs <<'JS'
import { Snowflake, SnowmintError, layouts, text } from "snowmint";
import { strict as assert } from "node:assert";
console.log(String(new Snowflake({ layout: "twitter", node: 5 }).nextId()));
assert.equal(layouts.TWITTER.decode(1541815603606036480n).fields.worker, 26);
assert.equal(text.decode(text.encode(2n ** 64n - 1n, "base62"), "base62"), 2n ** 64n - 1n);
const leasing = Snowflake.lease().then(async (gen) => {
  const { timestampMs } = layouts.SNOWMINT.decode(gen.nextId());
  assert(gen.window.start <= timestampMs && timestampMs < gen.window.end);
  await gen.close();
});
if (process.argv[2]) leasing.catch(() => assert.fail("no lease"));
else assert.rejects(leasing, { code: "STORE_UNAVAILABLE" });
assert.throws(() => new Snowflake({ layout: "twitter", node: 1024 }), (e) => e instanceof SnowmintError && e.code === "INVALID_NODE");
JS
sed 's/^import \(.*\) from \("[^"]*"\);/const \1 = require(\2);/; s/{ strict as assert }/{ strict: assert }/' use.mjs > use.cjs

for packages in "with the addon:snowmint-linux-x64-gnu" "without the addon:"; do
  echo "# npm ${packages%%:*}"
  rm -rf project && mkdir project
  cp use.mjs use.cjs project/
  cd project
  npm init -y > /dev/null
  npm install --silent --no-fund --no-audit --omit=optional "$dist"/npm/snowmint-[0-9]*.tgz
  addon=${packages#*:}
  [ -z "$addon" ] || npm install --silent --no-fund --no-audit "$dist/npm/$addon"-*.tgz
  node use.mjs $addon
  node use.cjs $addon
  npm ls --all --silent > /dev/null
  cd ..
done
echo "4 passed, 0 failed"
