#!/usr/bin/env bash
# Everything: checks, builds, tests in four places, packages. Prints a line a step, a failing step's output, and a count.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=.cache/test-logs
rm -rf "$logs"
mkdir -p "$logs"
total=0
failures=0

# How many tests the runners in a log say have passed (first word) and failed.
count() {
  awk '
    /^test result:/ { passed += $4; failed += $6 }
    /^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3 }
    /^# pass [0-9]+$/ || /^ℹ pass [0-9]+$/ { passed += $3 }
    /^# fail [0-9]+$/ || /^ℹ fail [0-9]+$/ { failed += $3 }
    /^=+ .*(passed|failed|error).* in [0-9.]+s/ || /^[0-9]+ (passed|failed).* in [0-9.]+s/ {
      for (i = 1; i < NF; i++) {
        if ($(i + 1) ~ /^passed/) passed += $i
        if ($(i + 1) ~ /^(failed|error)/) failed += $i
      }
    }
    END { print passed + 0, failed + 0 }' "$1"
}

step() {
  local name=$1 log started passed failed
  shift
  log="$logs/$(tr -c 'a-z0-9\n' '-' <<< "${name,,}").log"
  started=$SECONDS
  printf '%-58s' "$name"
  if "$@" > "$log" 2>&1 < /dev/null; then
    read -r passed failed <<< "$(count "$log")"
    # A step without a test runner is one check.
    [ "$((passed + failed))" -gt 0 ] || passed=1
    printf 'ok %6d  %4ds\n' "$passed" "$((SECONDS - started))"
  else
    read -r passed failed <<< "$(count "$log")"
    [ "$failed" -gt 0 ] || failed=1
    printf 'FAILED %3d %4ds\n' "$failed" "$((SECONDS - started))"
    tail -n 120 "$log"
  fi
  total=$((total + passed))
  failures=$((failures + failed))
}

# What is built once is not built in parts.
[ -z "${CI:-}" ] || export CARGO_INCREMENTAL=0

step "set-up" scripts/setup.sh
python=$PWD/.venv/bin
step "vectors are what the reference writes" python3 tests/reference/write_vectors.py --check

step "workflows" "$python/zizmor" --offline --quiet .github

step "Rust: format" cargo fmt --all --check
# What packages depend on is checked once for clippy and the documentation, if both name the same packages and features.
features=snowmint-tests/engines,snowmint-benches/engines,snowmint/all,snowmint/uuid
step "Rust: clippy" cargo clippy --quiet --locked --workspace --all-targets --features "$features" -- -D warnings
step "Rust: clippy of slots alone, and of stores without a client" scripts/each-store.sh
for module in mint forms inspect lease durability wide sql; do
  step "Rust: clippy of the wasm module $module" cargo clippy --quiet --locked -p snowmint-wasm --no-default-features --features "$module" --target wasm32-unknown-unknown -- -D warnings
done
step "Rust: core without std on bare metal" cargo build --quiet --locked -p snowmint-core --no-default-features --target thumbv7em-none-eabi
step "Rust: documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --workspace --features "$features"
# The service has the inspector in it, so the page comes first.
step "npm: build" scripts/build-npm.sh
step "npm: the inspector" npm --prefix npm run --silent site
page=$([ ! -e npm/site/dist/index.html ] || echo ,snowmint-server/page)
step "Rust: tests, with every store on real servers" cargo test --quiet --locked --no-fail-fast --workspace --features "snowmint-tests/engines$page"
# The service that was built with them, for all that is tested on one from here on.
export SNOWMINT_SERVER="${CARGO_TARGET_DIR:-$PWD/target}/debug/snowmint"
step "service: clients that others wrote" scripts/test-clients.sh
step "Rust: tests of optimised code" env SNOWMINT_ROUNDS=400 cargo test --quiet --locked --no-fail-fast --profile optimised -p snowmint-tests
step "Rust: models under loom, and their mutants" scripts/loom.sh
step "Rust: core under Miri" scripts/miri.sh
step "Rust: fuzzing of what reads" scripts/fuzz.sh 8
step "Rust: mutants" scripts/mutants.sh

step "Python: build" scripts/build-python.sh
step "Python: ruff" "$python/ruff" check python tests demo benches scripts server
step "Python: ruff format" "$python/ruff" format --check python tests demo benches scripts server
step "Python: mypy" sh -c "cd python && '$python/mypy' && '$python/mypy' --strict tests && '$python/mypy' --strict ../server/tests/clients ../benches/service"
step "Python: pyright, and every public name has a type" scripts/pyright.sh
step "Python: stubs are what the module has" sh -c "cd python && '$python/stubtest' snowmint._snowmint --allowlist tests/stubtest_allowlist.txt"
step "Python: tests" sh -c "cd python && '$python/pytest' -q"

step "npm: biome and types" npm --prefix npm run --silent check
step "npm: tests in Node, Chromium, Firefox and WebKit" npm --prefix npm test --silent

step "packages" scripts/package.sh
step "packages, used in empty projects" scripts/test-packages.sh
step "demo" scripts/demo.sh

grep -h '^browser bundle' "$logs"/*.log | tail -n 1
printf '\n%d passed, %d failed\n' "$total" "$failures"
[ "$failures" -eq 0 ]
