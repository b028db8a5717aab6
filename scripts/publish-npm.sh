#!/usr/bin/env bash
# Publishes tarballs with provenance: publish-npm.sh DIRECTORY. The addons come first, since snowmint depends on them.
# Published versions are skipped, so that an interrupted run can be repeated.
set -euo pipefail
cd "$1"
for tarball in snowmint-[a-z]*.tgz snowmint-[0-9]*.tgz; do
  package=$(tar -xzOf "$tarball" package/package.json | jq --raw-output '"\(.name)@\(.version)"')
  if [ -n "$(npm view "$package" version 2> /dev/null)" ]; then
    echo "$package is there"
  else
    npm publish --provenance --access public "./$tarball"
  fi
done
