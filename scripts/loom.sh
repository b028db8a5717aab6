#!/usr/bin/env bash
# Runs the models of the cell under loom (core/tests/loom.rs), and their mutants: each model must fail without its
# check.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/loom"
# One build serves both: without SNOWMINT_MUTANT no check is removed.
export RUSTFLAGS="--cfg loom --cfg snowmint_mutants"
unset SNOWMINT_MUTANT
models() { cargo test --quiet --locked -p snowmint-core --test loom --test loom_segment -- "$@" 2>&1; }
models
passed=0
red() { # MUTANT MODEL COMPLAINT
  local output
  if output=$(SNOWMINT_MUTANT=$1 models --exact "$2") || ! grep -q "$3" <<< "$output"; then
    printf '%s\n' "$output" "without the check \"$1\" the model $2 does not say \"$3\""
    exit 1
  fi
  passed=$((passed + 1))
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
echo "$passed passed, 0 failed"
