#!/usr/bin/env bash
# Runs core's machines in every order of events within bounds (proof/exhaustive), prints the number of states of each
# search, then leaves out one check after another: each time a search must fail.
set -uo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/exhaustive"
# One build serves both: without SNOWMINT_MUTANT no check is left out.
export RUSTFLAGS="--cfg snowmint_mutants"
unset SNOWMINT_MUTANT
manifest=(--manifest-path proof/exhaustive/Cargo.toml)
cargo fmt "${manifest[@]}" --check || exit 1
cargo clippy --quiet --locked --release "${manifest[@]}" -- -D warnings || exit 1
cargo build --quiet --locked --release "${manifest[@]}" || exit 1
search=$CARGO_TARGET_DIR/release/snowmint-exhaustive
passed=0
failed=0

"$search" && passed=1 || failed=1

red() { # mutant, search, what the failure says
  local output
  if ! output=$(SNOWMINT_MUTANT=$1 "$search" --only "$2") && grep -q "does not hold: $3" <<< "$output"; then
    printf '%-9s %s: %s\n' "$1" "$2" "$(grep -m1 "does not hold: $3" <<< "$output" | sed 's/^ *//; s/:$//')"
    passed=$((passed + 1))
  else
    printf 'without the check "%s" the search %s does not say "%s":\n%s\n' "$1" "$2" "$3" "$output"
    failed=$((failed + 1))
  fi
}
red swap cells "no ID is minted twice"
red close cells "each ID lies inside"
red increase cells "IDs of a holder increase"
red window cells "each ID lies inside"
red run threads "a closed cell mints nothing"
red run threads "a forked child mints nothing"
red start claims "the end of a granted window only grows"
red start takeovers "no ID is minted twice"
red floor restores "no ID is minted twice"
red vanished vanishes "no ID is minted twice"
red cursor segments "numbers of an allocator increase"
red restore "restored segments" "numbers of an allocator increase"
red base sections "no number of a user is handed out twice"
red base "forgotten users" "no number of a user is handed out twice"
red durable sections "each number is below the durable maximum"
red fence sections "each number is below the durable maximum"
red tenure sections "numbers of a user increase"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
