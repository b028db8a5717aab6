#!/usr/bin/env bash
# Brings what is missing to build, demonstrate and test: Rust targets, a virtual environment, npm packages, Chromium.
# Costs nothing when everything is there.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
for tool in cargo rustup node npm python3; do
  command -v "$tool" > /dev/null || missing+=("$tool")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "snowmint needs ${missing[*]}: install rustup (with cargo), Node 20 or later with npm, and Python 3.11 or later" >&2
  exit 1
fi

# Debian's packages, where they are missing: at most one run of apt-get.
packages=()
python3 -c 'import ensurepip, venv' 2> /dev/null || packages+=(python3-venv)
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || packages+=(chromium)
command -v c++ > /dev/null || packages+=(g++)
command -v make > /dev/null || packages+=(make)
compgen -G "/usr/lib/*/faketime/libfaketime.so.1" > /dev/null || packages+=(libfaketime)
# The compiler and the includes that the client of etcd is built with, and the engines that the stores are tested on.
command -v protoc > /dev/null && [ -e /usr/include/google/protobuf/descriptor.proto ] ||
  packages+=(protobuf-compiler libprotobuf-dev)
[ -x /usr/lib/postgresql/15/bin/postgres ] || packages+=(postgresql-15)
command -v mariadbd > /dev/null || packages+=(mariadb-server)
command -v redis-server > /dev/null || packages+=(redis-server)
command -v etcd > /dev/null && command -v etcdctl > /dev/null || packages+=(etcd-server etcd-client)
[ -e /usr/share/java/zookeeper.jar ] || packages+=(zookeeper)
# Backups of SQLite, and disks that stand still.
command -v sqlite3 > /dev/null || packages+=(sqlite3)
command -v mkfs.ext4 > /dev/null || packages+=(e2fsprogs)
# A cache in front of the service, and the browsers beside Chromium.
[ -x /usr/sbin/varnishd ] || packages+=(varnish)
[ -x "${FIREFOX:-/usr/bin/firefox-esr}" ] || packages+=(firefox-esr)
command -v WebKitWebDriver > /dev/null || packages+=(webkit2gtk-driver)
command -v Xvfb > /dev/null || packages+=(xvfb)
if [ ${#packages[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
    echo "snowmint needs ${packages[*]}: install it by your package manager (CHROMIUM=path names a browser elsewhere)" >&2
    exit 1
  fi
  echo "installing ${packages[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" > /dev/null
fi

installed=$(rustup target list --installed)
for target in wasm32-unknown-unknown thumbv7em-none-eabi; do
  grep -qx "$target" <<< "$installed" || rustup --quiet target add "$target"
done
rustup --quiet component add clippy rustfmt

# Installs again only when the list of packages has changed.
mkdir -p .cache
changed() { ! cmp -s "$1" ".cache/installed-${1//\//-}"; }
installed() { cp "$1" ".cache/installed-${1//\//-}"; }
if [ ! -x .venv/bin/python ] || changed python/requirements-dev.txt; then
  echo "installing Python packages"
  python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check -r python/requirements-dev.txt
  installed python/requirements-dev.txt
fi
if [ ! -d npm/node_modules ] || changed npm/package-lock.json; then
  echo "installing npm packages"
  # What is compiled from source finds Node's headers where they lie beside it, without a download.
  prefix=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
  [ ! -e "$prefix/include/node/node.h" ] || export npm_config_nodedir="$prefix"
  # By force, as the packages of other platforms are linked too.
  npm ci --prefix npm --force --silent --no-fund --no-audit
  installed npm/package-lock.json
fi
# What makes a client of the service's document.
clients=server/tests/clients/typescript
if [ ! -d "$clients/node_modules" ] || changed "$clients/package-lock.json"; then
  npm ci --prefix "$clients" --silent --no-fund --no-audit
  installed "$clients/package-lock.json"
fi
