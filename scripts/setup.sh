#!/usr/bin/env bash
# Installs what is missing, by purpose: setup.sh [--missing] PURPOSE...
#   rust       the targets and components of Rust        nightly   the nightly toolchain, for Miri and fuzzing
#   maturin    a virtual environment that builds wheels  python    it, with all that Python's tests use
#   esbuild    npm packages that build                   npm       them, with all that npm's tests use
#   chromium   Chromium                                  browsers  Firefox, WebKit and a display for it
#   protoc     the compiler for etcd's client            servers   PostgreSQL, PgBouncer, pgpool, MariaDB, Redis, etcd, ZooKeeper,
#                                                                  NATS, Varnish
#   faults     false clocks and frozen disks         docs       the tools that make the pages of docs/
#   headless   Chromium without windows                  valgrind  a program that counts instructions
#   proof      the solvers that check proof/         sql        ClickHouse and the newest PostgreSQL, for tests of SQL
#   deploy     the tools that check deploy/          image      the tools that build its image
#   bench      what loads the service, and Redis, with which `make bench` compares it
# Takes no time if everything is installed. With --missing it prints the missing parts and installs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
dry=
if [ "${1:-}" = --missing ]; then dry=yes; shift; fi

tools=()
for tool in cargo rustup node npm python3; do
  command -v "$tool" > /dev/null || tools+=("$tool")
done
if [ ${#tools[@]} -gt 0 ]; then
  echo "snowmint needs ${tools[*]}: install rustup (with cargo), Node 20 or later with npm, and Python 3.11 or later" >&2
  exit 1
fi

packages=() # of Debian and Ubuntu
commands=() # that install the rest
need() { # PACKAGE COMMAND-THAT-SUCCEEDS-WHEN-IT-IS-THERE...
  "${@:2}" > /dev/null 2>&1 || packages+=("$1")
}
has() { command -v "$1"; }
file() { compgen -G "$1"; }
rust_has() { grep -qx "$2" <<< "$(rustup "$1" list --installed)"; }
install() { # WHAT COMMAND...
  if [ -n "$dry" ]; then commands+=("$1"); else echo "installing $1"; "${@:2}"; fi
}
# A list of packages is installed again when it changes.
mkdir -p .cache
changed() { ! cmp -s "$1" ".cache/installed-$2"; }
made() { cp "$1" ".cache/installed-$2"; }

pip_list() { # LIST [NAME-OF-ITS-COPY]
  local copy=${2:-$(basename "$1")}
  ! changed "$1" "$copy" || install "Python packages of $1" pip_install "$1" "$copy"
}
pip_install() {
  # A lock, because several set-ups may run at once.
  exec 9> .cache/venv.lock
  ! has flock > /dev/null || flock 9
  [ -x .venv/bin/python ] || python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check -r "$1"
  exec 9>&-
  made "$1" "$2"
}
npm_list() { # FOLDER NAME-OF-ITS-COPY
  ! changed "$1/package-lock.json" "$2" || install "npm packages of $1/package-lock.json" npm_ci "$1" "$2"
}
npm_ci() {
  npm ci --prefix "$1" --silent --no-fund --no-audit
  made "$1/package-lock.json" "$2"
}
npm_install() {
  # By force, because npm also links the packages of other platforms. The needed install scripts run below.
  npm ci --prefix npm --force --ignore-scripts --silent --no-fund --no-audit
  made npm/package-lock.json esbuild
  rm -f .cache/installed-npm
}
npm_compile() {
  # Node's headers lie beside it: npm would download them.
  prefix=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
  [ ! -e "$prefix/include/node/node.h" ] || export npm_config_nodedir="$prefix"
  npm rebuild --prefix npm --silent better-sqlite3
  made npm/package-lock.json npm
}

for purpose in "$@"; do
  case $purpose in
    chromium) need chromium test -x "${CHROMIUM:-/usr/bin/chromium}" ;;
    headless)
      # Where there is no such package, tests use Chromium with windows.
      if [ -z "${CHROMIUM:-}" ] && grep -q '^ID=debian$' /etc/os-release 2> /dev/null; then
        need chromium-headless-shell test -x /usr/bin/chromium-headless-shell
      fi
      ;;
    maturin | python | docs | proof | sql) need python3-venv python3 -c 'import ensurepip, venv' ;;
    deploy)
      need python3-venv python3 -c 'import ensurepip, venv'
      need haproxy file /usr/sbin/haproxy
      need nginx-light file /usr/sbin/nginx
      need prometheus has promtool
      need strace has strace
      need systemd has systemd-analyze
      ;;
    npm)
      need g++ has c++
      need make has make
      ;;
    protoc)
      need protobuf-compiler has protoc
      need libprotobuf-dev file /usr/include/google/protobuf/descriptor.proto
      ;;
    servers)
      need postgresql file "/usr/lib/postgresql/*/bin/initdb"
      need pgbouncer file /usr/sbin/pgbouncer
      need pgpool2 file /usr/sbin/pgpool
      need mariadb-server has mariadbd
      need redis-server has redis-server
      need etcd-server has etcd
      need etcd-client has etcdctl
      need zookeeper file /usr/share/java/zookeeper.jar
      need nats-server file /usr/sbin/nats-server
      need python3-venv python3 -c 'import ensurepip, venv'
      need sqlite3 has sqlite3
      need varnish file /usr/sbin/varnishd
      need curl has curl
      ;;
    browsers)
      need firefox-esr test -x "${FIREFOX:-/usr/bin/firefox-esr}"
      need webkit2gtk-driver has WebKitWebDriver
      need xvfb has Xvfb
      ;;
    faults)
      need libfaketime file "/usr/lib/*/faketime/libfaketime.so.1"
      need e2fsprogs file "/*bin/mkfs.ext4"
      ;;
    valgrind) need valgrind has valgrind ;;
    bench)
      need wrk has wrk
      need redis-tools has redis-benchmark
      need redis-server has redis-server
      ;;
    image)
      need buildah has buildah
      need debootstrap has debootstrap
      need debian-archive-keyring test -e /usr/share/keyrings/debian-archive-keyring.gpg
      need iproute2 has ip
      ;;
    rust | nightly | esbuild) ;;
    *) echo "setup.sh: there is no purpose $purpose" >&2; exit 2 ;;
  esac
done
if [ ${#packages[@]} -gt 0 ] && [ -z "$dry" ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
    echo "snowmint needs ${packages[*]}: install it by your package manager (CHROMIUM=path names a browser elsewhere)" >&2
    exit 1
  fi
  echo "installing ${packages[*]}"
  # A lock, because several set-ups may run at once.
  exec 9> .cache/apt.lock
  flock 9
  [ -n "$(find .cache/apt-updated -mmin -60 2> /dev/null)" ] || apt-get update -qq
  touch .cache/apt-updated
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" > /dev/null
  exec 9>&-
fi

for purpose in "$@"; do
  case $purpose in
    rust)
      for target in wasm32-unknown-unknown thumbv7em-none-eabi; do
        rust_has target $target || install "Rust's target $target" rustup --quiet target add $target
      done
      for component in clippy rustfmt; do
        rust_has component "$component-$(rustc --print host-tuple)" || install "Rust's $component" rustup --quiet component add $component
      done
      ;;
    nightly)
      rustup component list --toolchain nightly --installed 2> /dev/null | grep -q '^miri' ||
        install "Rust's nightly toolchain" rustup --quiet toolchain install nightly --profile minimal --component miri --component rust-src
      ;;
    maturin) pip_list python/requirements-build.txt ;;
    python) pip_list python/requirements-dev.txt ;;
    servers) pip_list tests/engines/requirements.txt requirements-servers.txt ;;
    docs)
      pip_list docs/site/requirements.txt
      npm_list docs/site npm-docs
      ;;
    proof) pip_list proof/requirements.txt requirements-proof.txt ;;
    sql)
      pip_list tests/sql/requirements-sql.txt
      # Its install script makes links that npm's packages cannot hold.
      npm_list tests/sql npm-sql
      ;;
    deploy)
      pip_list deploy/tests/requirements-deploy.txt
      npm_list deploy/tests npm-deploy
      ;;
    esbuild | npm)
      ! changed npm/package-lock.json esbuild || install "npm packages of npm/package-lock.json" npm_install
      ;;&
    npm)
      ! changed npm/package-lock.json npm || install "SQLite for Node, from source" npm_compile
      npm_list server/tests/clients/typescript npm-clients
      ;;
  esac
done
if [ -n "$dry" ]; then
  [ ${#packages[@]} -eq 0 ] || echo "  Debian packages: ${packages[*]}"
  [ ${#commands[@]} -eq 0 ] || printf '  %s\n' "${commands[@]}"
fi
