#!/usr/bin/env bash
# Runs steps of scripts/steps.mk, JOBS at a time: suite.sh STEP... Lists first what it installs, then installs and builds what
# they need, and ends with the counts of each test runner.
set -uo pipefail
cd "$(dirname "$0")/.."
# Steps read variables such as QUICK from the environment.
unset MAKEFLAGS MFLAGS MAKELEVEL
logs=.cache/logs
mkdir -p $logs
rm -f $logs/*.counts
[ $# -gt 0 ] || { echo "there is no such step"; exit; }
run=(make --silent --no-print-directory --keep-going --output-sync=target --jobs="${JOBS:-$(nproc)}")

needed=$(LC_ALL=C make --dry-run --debug=basic "$@" | sed -En "s/^ *Must remake target '((setup|build)-.*)'\.$/\1/p") || exit 1
mapfile -t setups < <(grep ^setup <<< "$needed")
mapfile -t builds < <(grep ^build <<< "$needed")
missing=$(scripts/setup.sh --missing "${setups[@]#setup-}") || exit 1
if [ -n "$missing" ]; then
  printf 'This installs what is missing:\n%s\n' "$missing"
  builds=("${setups[@]}" "${builds[@]}")
else
  echo "Everything is installed."
  run+=("${setups[@]/#/--assume-old=}")
fi
# Builds take all processors, so they come first. Then the steps start in their order.
[ ${#builds[@]} -eq 0 ] || "${run[@]}" "${builds[@]}" 9>&1
for built in "${builds[@]}"; do
  # The counts of a failed build are not empty.
  if [ -e "$logs/$built.counts" ] && ! grep -q . "$logs/$built.counts"; then run+=("--assume-old=$built"); fi
done
export STEPS="$*"
# One program starts the servers of all tests, when the first test asks for them.
if [[ " ${run[*]} " == *" --assume-old=build-engines "* ]] && [ -z "${SNOWMINT_ENGINES:-}" ]; then
  run=("${CARGO_TARGET_DIR:-target}/debug/snowmint-engines" "${run[@]}")
fi
"${run[@]}" "$@" 9>&1
status=$?

echo
left=0
for step; do
  if [[ $step != setup-* && ! -e $logs/$step.counts ]]; then
    echo "not run, as a step before it failed: $step"
    left=$((left + 1))
  fi
done
cat $logs/*.counts 2> /dev/null | awk -F '\t' -v failed=$left '
  NF { p[$1] += $2; f[$1] += $3; passed += $2; failed += $3 }
  END {
    for (runner in p) printf "%s: %d passed, %d failed\n", runner, p[runner], f[runner] | "sort"
    close("sort")
    if (passed + failed) printf "\n%d passed, %d failed\n", passed, failed
    exit failed > 0
  }' || status=1
exit $status
