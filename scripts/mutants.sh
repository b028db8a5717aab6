#!/usr/bin/env bash
# Takes each safety check out in turn (core/src/mutant.rs), and shows that a test notices. Red is what is wanted here.
set -uo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/mutants RUSTFLAGS="--cfg snowmint_mutants"
passed=0
failed=0

package=snowmint-tests
features=
declare -A binaries

# Builds a file of tests once, and says in $binary where it is: cargo itself takes a second for each run.
build() { # test file
  local key="$package $1 $features"
  [ -n "${binaries[$key]:-}" ] ||
    binaries[$key]=$(cargo test --quiet --locked -p "$package" ${features:+--features "$features"} --test "$1" --no-run --message-format=json |
      sed -n '/"kind":\["test"\]/s/.*"executable":"\([^"]*\)".*/\1/p')
  binary=${binaries[$key]}
}

run() { # mutant, test name
  SNOWMINT_MUTANT=$1 SNOWMINT_ROUNDS=40 timeout "${limit:-120}" "$binary" "$2" 2>&1
}

check() { # mutant, test file, test name, what the failure says
  local output binary
  build "$2"
  if ! output=$(run none "$3"); then
    printf 'without a mutant %s::%s fails\n%s\n' "$2" "$3" "$output"
    failed=$((failed + 1))
  elif ! grep -q '[1-9][0-9]* passed' <<< "$output"; then
    printf 'there is no test %s::%s\n' "$2" "$3"
    failed=$((failed + 1))
  elif output=$(run "$1" "$3") || ! grep -Eq "$4" <<< "$output"; then
    printf '%s: not noticed by %s::%s\n%s\n' "$1" "$2" "$3" "$output"
    failed=$((failed + 1))
  else
    printf '%-9s %s: %s\n' "$1" "$3" "$(grep -Em1 "$4" <<< "$output")"
    passed=$((passed + 1))
  fi
}

# With the programs that the tests start.
cargo test --quiet --locked -p snowmint-tests --no-run || exit 1
# Where the kernel cannot wipe pages a handler does, which makes up for it.
build forks
if output=$(run advice four_forked_children); then
  echo "advice    four_forked_children: still green"
  passed=$((passed + 1))
else
  printf 'advice: the at-fork handler does not make up for it\n%s\n' "$output"
  failed=$((failed + 1))
fi
check swap slots eight_threads_of_a_hundred_thousand_ids_on_one_lease "duplicates|IDs of one thread increase"
check increase restarts a_running_process_survives_steps "duplicates"
check start restarts a_renewed_window_of_a_killed_holder "duplicates"
check ahead restarts a_renewed_window_of_a_killed_holder "duplicates"
check window leases no_id_is_minted_twice "duplicate|repeat"
check close leases no_id_is_minted_twice "duplicate|repeat"
check lock slots sixteen_processes_started_at_once "duplicates"
check wipe forks four_forked_children "duplicates"
check wipe forks four_children_of_a_raw_clone "duplicates"
check renew wide four_forked_children "duplicates"
check renew wide four_children_of_a_raw_clone "duplicates"
check inherit forks a_forked_child_neither_keeps "are taken"
check share process generators_of_one_node_share_a_state "duplicates"
# It goes on for ever.
limit=10 check deadline generator a_call_on_a_frozen_clock_ends "running 1 test"
check range generator a_node_beyond_the_layout "panicked"

features=local
check version stores file::a_sequence_of_several_sessions "panicked"
# What a child does with its parent's locks and threads may have no end.
limit=15 check forked stores a_forked_child_hands_out_nothing "panicked|running 1 test"
# With the clients of all engines to build; part of scripts/soak.sh.
if [ "${1:-}" = engines ]; then
  features=engines
  check guard stores mariadb_only::numbers_of_a_sequence_never_repeat "panicked"
fi
features=

package=snowmint-core
check start lease no_id_is_minted_twice "duplicate"
check cursor segment "" "panicked"
check restore segment "" "panicked"
check offset ticket "" "panicked"
check base section "" "panicked"
check durable section "" "panicked"
check fence section "" "panicked"
check tenure section "" "panicked"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
