#!/usr/bin/env bash
# Runs the models of the cell under loom (core/tests/loom.rs), and their mutants: each model must fail without its
# check.
set -uo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/loom"
# One build serves both: without SNOWMINT_MUTANT no check is removed.
export RUSTFLAGS="--cfg loom --cfg snowmint_mutants"
unset SNOWMINT_MUTANT
log=$(mktemp)
trap 'rm -f "$log"' EXIT

models() { cargo test --quiet --locked -p snowmint-core --test loom --test loom_segment -- "$@" > "$log" 2>&1; }

models || cat "$log"
read -r passed failed <<< "$(awk '/^test result:/ { p += $4; f += $6 } END { print p + 0, f + 0 }' "$log")"
# Without any result the build has failed, or the file has no models.
[ "$((passed + failed))" -gt 0 ] || { cat "$log"; failed=1; }

red() {
  local mutant=$1 model=$2 complaint=$3
  if SNOWMINT_MUTANT=$mutant models --exact "$model" || ! grep -q "$complaint" "$log"; then
    echo "without the check \"$mutant\" the model $model does not say \"$complaint\":"
    tail -n 20 "$log"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
}
red swap two_threads_on_one_cell_never_repeat_an_id "repeat or go back"
red swap three_threads_on_one_cell_never_repeat_an_id "a duplicate among"
red swap a_run_and_single_ids_never_overlap "a duplicate among"
red swap a_tick_that_two_threads_use_up_is_used_up_once "a duplicate among"
red increase two_threads_on_one_cell_never_repeat_an_id "repeat or go back"
red close a_call_stalled_across_a_release_repeats_no_id "a duplicate among"
red close two_releases_at_once_give_the_window_back_once "one of them closes the cell"
red start a_renewal_beside_a_release_opens_nothing_again "a duplicate among"
red cursor threads_that_take_while_another_one_refills_never_repeat_a_number "a duplicate among"
red cursor runs_and_single_numbers_never_overlap "a duplicate among"
red cursor blocks_beside_single_numbers_are_whole_and_unshared "a duplicate among"
red window no_id_lies_past_an_end_that_is_not_yet_durable "outside its window"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
