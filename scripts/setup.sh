#!/usr/bin/env bash
# Installs what is missing, by purpose: setup.sh [--missing] PURPOSE...
#   rust       the targets and components of Rust        nightly   the nightly toolchain, for Miri and fuzzing
#   maturin    a virtual environment that builds wheels  python    it, with all that Python's tests use
#   esbuild    npm packages that build                   npm       them, with all that npm's tests use
#   chromium   Chromium                                  browsers  Firefox, WebKit and a display for it
#   protoc     the compiler for etcd's client            servers   the database servers of the tests
#   faults     false clocks and frozen disks             docs      the tools that make the pages of docs/
#   headless   Chromium without windows                  valgrind  a program that counts instructions
#   proof      the solvers that check proof/             sql       ClickHouse and the newest PostgreSQL, for tests of SQL
#   deploy     the tools that check deploy/              image     the tools that build its image
#   runtimes   Deno, Bun, workerd and bundlers           contenders  npm packages that `make bench` compares with
#   languages  PHP, Ruby, Go and Java, whose clients ask the service
#   bench      what loads the service, and Redis, with which `make bench` compares it
# Takes no time if everything is installed. With --missing it prints the missing parts and installs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
dry=
if [ "${1:-}" = --missing ]; then dry=yes; shift; fi
for tool in cargo rustup node npm python3; do
  command -v "$tool" > /dev/null || {
    echo "snowmint needs $tool: install rustup (with cargo), Node 20 or later with npm, and Python 3.11 or later" >&2
    exit 1
  }
done

debian() { # PURPOSE: its Debian packages
  case $1 in
    chromium) [ -n "${CHROMIUM:-}" ] || echo chromium ;;
    # On systems without this package, tests use Chromium with windows.
    headless) [ -n "${CHROMIUM:-}" ] || ! grep -qs '^ID=debian$' /etc/os-release || echo chromium-headless-shell ;;
    browsers) echo "${FIREFOX:-firefox-esr}" webkit2gtk-driver xvfb ;;
    protoc) echo protobuf-compiler libprotobuf-dev ;;
    npm) echo g++ make ;;
    servers)
      echo postgresql pgbouncer pgpool2 mariadb-server redis-server etcd-server etcd-client zookeeper nats-server sqlite3
      echo varnish curl
      ;;
    deploy) echo haproxy nginx-light prometheus strace systemd ;;
    faults) echo libfaketime e2fsprogs ;;
    languages) echo php-cli php-redis ruby-redis golang-go default-jdk-headless ;;
    valgrind) echo valgrind ;;
    bench) echo wrk redis-tools redis-server ;;
    image) echo buildah debootstrap debian-archive-keyring iproute2 ;;
  esac
}
requirements() { # PURPOSE: its list of Python packages
  case $1 in
    maturin) echo python/requirements-build.txt ;;
    python) echo python/requirements-dev.txt ;;
    servers) echo tests/engines/requirements.txt ;;
    docs) echo docs/site/requirements.txt ;;
    proof) echo proof/requirements.txt ;;
    sql) echo tests/sql/requirements-sql.txt ;;
    deploy) echo deploy/tests/requirements-deploy.txt ;;
  esac
}
modules() { # PURPOSE: its folder of npm packages
  case $1 in
    # By force, because npm also links the packages of other platforms. The needed install script runs below.
    esbuild) echo npm --force --ignore-scripts ;;
    npm) echo server/tests/clients/typescript ;;
    docs) echo docs/site ;;
    # Its install script makes links that npm's packages cannot hold.
    sql) echo tests/sql ;;
    deploy) echo deploy/tests ;;
    runtimes) echo npm/runtimes --ignore-scripts ;;
    contenders) echo benches/js --ignore-scripts ;;
  esac
}

install() { # WHAT COMMAND...
  if [ -n "$dry" ]; then echo "  $1"; else echo "installing $1"; "${@:2}"; fi
}
lock() { # NAME, because several set-ups may run at once. macOS has no flock.
  exec 9> ".cache/$1.lock"
  ! command -v flock > /dev/null || flock 9
}
apt() { # PACKAGE...
  if [ "$(id -u)" != 0 ]; then
    echo "snowmint needs $*: install it by your package manager (CHROMIUM=path and FIREFOX=path name browsers elsewhere)" >&2
    exit 1
  fi
  lock apt
  [ -n "$(find .cache/apt-updated -mmin -60 2> /dev/null)" ] || apt-get update -qq
  touch .cache/apt-updated
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" > /dev/null
}
# Programs of an environment name its folder: one that was moved or copied is made anew.
is_moved() { [ -e .venv/folder ] && [ "$(< .venv/folder)" != "$(pwd -P)" ]; }
pip() { # LIST COPY
  lock venv
  ! is_moved || rm -rf .venv
  [ -x .venv/bin/python ] || python3 -m venv .venv
  pwd -P > .venv/folder
  # Python compiles what tests import; pip would compile everything, on one processor.
  .venv/bin/pip install --quiet --disable-pip-version-check --no-compile -r "$1"
  # The list is installed again when it changes.
  cp "$1" "$2"
}
npm_ci() { # FOLDER COPY OPTION...
  npm ci --prefix "$1" --silent --no-fund --no-audit "${@:3}"
  cp "$1/package-lock.json" "$2"
}
compile_sqlite() {
  # Node's headers lie beside it: npm would download them.
  prefix=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
  [ ! -e "$prefix/include/node/node.h" ] || export npm_config_nodedir="$prefix"
  # The statements of the tests are short. To compile an optimised SQLite takes longer than all tests take without it.
  CFLAGS=-O0 npm rebuild --prefix npm --silent better-sqlite3
}

mkdir -p .cache
packages=()
lists=$(for purpose; do requirements "$purpose"; done)
[ -z "$lists" ] || python3 -c 'import ensurepip, venv' 2> /dev/null || packages=(python3-venv)
# A system without Debian's packages has the programs by its package manager.
! command -v dpkg-query > /dev/null || for package in $(for purpose; do debian "$purpose"; done); do
  [[ -x $package || $(dpkg-query -Wf '${Status}' "$package" 2> /dev/null) == *" installed" ]] || packages+=("$package")
done
[ ${#packages[@]} -eq 0 ] || install "Debian packages: ${packages[*]}" apt "${packages[@]}"

for purpose; do
  for list in $(requirements "$purpose"); do
    copy=.venv/installed-${list//\//-}
    { ! is_moved && cmp -s "$list" "$copy"; } || install "Python packages of $list" pip "$list" "$copy"
  done
  read -r folder options < <(modules "$purpose") || true
  copy=$folder/node_modules/.installed
  # shellcheck disable=SC2086
  [ -z "$folder" ] || cmp -s "$folder/package-lock.json" "$copy" || install "npm packages of $folder" npm_ci "$folder" "$copy" $options
  case $purpose in
    rust)
      for target in wasm32-unknown-unknown thumbv7em-none-eabi; do
        rustup target list --installed | grep -qx $target || install "Rust's target $target" rustup --quiet target add $target
      done
      for component in clippy rustfmt; do
        rustup component list --installed | grep -q "^$component" ||
          install "Rust's $component" rustup --quiet component add $component
      done
      ;;
    nightly)
      rustup component list --toolchain nightly --installed 2> /dev/null | grep -q '^miri' ||
        install "Rust's nightly toolchain" rustup --quiet toolchain install nightly --profile minimal --component miri --component rust-src
      ;;
    npm) [ -e npm/node_modules/better-sqlite3/build/Release/better_sqlite3.node ] || install "SQLite for Node, from source" compile_sqlite ;;
    maturin | python | esbuild | chromium | headless | browsers | protoc | servers | faults | docs | valgrind | proof | sql) ;;
    deploy | image | runtimes | contenders | bench | languages) ;;
    *)
      echo "setup.sh: there is no purpose $purpose" >&2
      exit 2
      ;;
  esac
done
