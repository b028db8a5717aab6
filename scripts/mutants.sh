#!/usr/bin/env bash
# Removes each safety check in turn (core/src/mutant.rs), and shows that a test then fails.
set -uo pipefail
cd "$(dirname "$0")/.."

# The files of tests. Each is built once and then run without cargo. Other builds share all but the workspace's crates.
files=(forks generator leases places process restarts slots stores wide lease pin section segment ticket)
built=$(RUSTC_WORKSPACE_WRAPPER=$PWD/scripts/rustc-with-mutants.sh cargo test --quiet --locked --no-run --workspace \
  --features snowmint-tests/engines "${files[@]/#/--test=}" --message-format=json) || exit 1
declare -A binaries
while read -r package file binary; do
  binaries["$package $file"]=$binary
done < <(sed -En 's/.*#(snowmint-[a-z]+)@.*"kind":\["test"\].*"name":"([a-z]+)".*"executable":"([^"]+)".*/\1 \2 \3/p' <<< "$built")

package=snowmint-tests
passed=0 failed=0 running=0
sound=$(mktemp -d)
trap 'rm -r "$sound"' EXIT
run() { # MUTANT FILE TEST
  SNOWMINT_MUTANT=$1 SNOWMINT_ROUNDS=40 timeout 120 "${binaries["$package $2"]}" "$3" 2>&1
}
notice() { # MUTANT FILE TEST COMPLAINT
  local output
  # Without a mutant the test passes; one such run per test is enough.
  if [ ! -e "$sound/$package-$2-$3" ]; then
    output=$(run none "$2" "$3") || { printf '%s\n' "$output" "without a mutant $2::$3 fails"; return 1; }
    grep -q '[1-9][0-9]* passed' <<< "$output" || { echo "there is no test $2::$3"; return 1; }
    touch "$sound/$package-$2-$3"
  fi
  # Threads that race do so in most runs, not in each.
  for _ in 1 2 3; do
    if ! output=$(run "$1" "$2" "$3") && grep -Eq "$4" <<< "$output"; then
      printf '%-9s %s: %s\n' "$1" "$3" "$(grep -Em1 "$4" <<< "$output")"
      return
    fi
  done
  printf '%s\n' "$output" "$1: not noticed by $2::$3"
  return 1
}
end() {
  running=$((running - 1))
  if wait -n; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
check() { # as notice, beside others: most tests wait for servers and windows
  [ $running -lt 4 ] || end
  running=$((running + 1))
  notice "$@" &
}

# If the kernel cannot wipe pages, an at-fork handler does it instead, so this mutant stays green.
if output=$(run advice forks four_forked_children); then
  passed=1
else
  printf '%s\n' "$output" "advice: the at-fork handler does not make up for it"
  failed=1
fi
check swap slots eight_threads_on_one_lease "duplicates|IDs of one thread increase"
check increase restarts a_running_process_survives_clock_steps "duplicates"
check start restarts no_clock_set_back_reuses "duplicates"
check ahead restarts no_clock_set_back_reuses "duplicates"
check window leases no_id_is_minted_twice "duplicate|repeat"
check close leases no_id_is_minted_twice "duplicate|repeat"
check place places two_mount_namespaces "node 0"
check vanished slots a_slot_that_vanished "duplicates"
check layout slots a_layout_that_vanished "node 0"
check keep slots renewals_keep_the_layout "a renewal touches"
check lock slots sixteen_processes_started_at_once "duplicates"
check wipe forks four_forked_children "duplicates"
check wipe forks four_children_of_a_raw_clone "duplicates"
check renew wide four_forked_children "duplicates"
check renew wide four_children_of_a_raw_clone "duplicates"
check run forks a_forked_child_has_nothing_of_a_threads_run "duplicates"
check inherit forks a_forked_child_neither_keeps "are taken"
check negative process signed_integers_are_refused "panicked"
check share process generators_of_one_node_share_a_state "duplicates"
check deadline generator a_call_on_a_frozen_clock_ends "panicked"
check range generator a_node_beyond_the_layout "panicked"

check floor stores restores::a_fence_holds_nodes_first_granted "duplicates"
check versions stores restores::a_suspended_holder_of_sqlite "duplicates"
check version stores file::a_sequence_of_several_sessions "panicked"
check forked stores forks::a_forked_child_hands_out_no_number "panicked"
check settings stores live_settings::renewals_end_when_redis "fetches go on"
check behind stores live_settings::a_write_counts_only_if_redis "a crash could lose it"
check behind stores live_settings::a_write_counts_only_if_postgres "a crash could lose it"
check settings stores nats_only::a_server_that_returns "panicked"
check guard stores mariadb_only::numbers_of_a_sequence_never_repeat "panicked"
check binlog stores mariadb_only::a_function_mints_beside "panicked"
check nested stores reservations::a_process_mints_to_the_end "panicked"
check copied stores reservations::a_copied_directory "panicked|duplicates"

package=snowmint-core
check start lease no_id_is_minted_twice "duplicate"
check floor lease no_id_is_minted_twice "duplicate"
check vanished lease no_node_is_granted_where_records_have_vanished "panicked"
check layout lease a_vanished_layout_is_replaced "panicked"
check early lease a_fence_is_not_before "panicked"
check cursor segment "" "panicked"
check restore segment "" "panicked"
check offset ticket "" "panicked"
check pin pin "" "panicked"
check base section "" "panicked"
check durable section "" "panicked"
check fence section "" "panicked"
check tenure section "" "panicked"
while [ $running -gt 0 ]; do end; done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
