#!/usr/bin/env bash
# The shell of the steps in scripts/steps.mk: step.sh NAME SCRIPT. Prints a line when a step starts and when it ends, and the
# last lines of one that fails. All output is in .cache/logs/. Steps with the same LOCK run one after the other.
set -uo pipefail
# Cargo would look for the slots of this make.
unset MAKEFLAGS MFLAGS MAKELEVEL
name=$1
log=.cache/logs/$name.log
mkdir -p .cache/logs
# Once in a suite a build is enough, also one that fails.
if [ -e /dev/fd/9 ] && grep -qs '1$' "${log%.log}.counts"; then exit 1; fi
if [ -n "${LOCK:-}" ]; then
  exec 8> ".cache/$LOCK.lock"
  flock 8
fi
# File 9 is the output of the suite: make keeps what steps write until they end.
if [ -e /dev/fd/9 ]; then echo "start   $name" >&9; fi
SECONDS=0
# A step that hangs is killed. Programs in the background of a shell ignore Ctrl-C, and tests send it.
env --default-signal=INT,QUIT timeout --kill-after=30 30m bash -euo pipefail -c "$2" < /dev/null > "$log" 2>&1 8>&- 9>&- &
trap 'kill $!; wait; exit 130' INT TERM
wait $!
status=$?

counts=$(awk -f scripts/counts.awk "$log")
failed=$(awk -F '\t' '{ n += $3 } END { print n + 0 }' <<< "$counts")
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || counts+=$'\nother checks\t0\t1'
# A step without a test runner counts as one check. A step that builds or installs counts as no check.
case $name in build-* | setup-*) ;; *) counts=${counts:-$'other checks\t1\t0'} ;; esac
printf '%s\n' "$counts" > "${log%.log}.counts"
summary=$(awk -F '\t' '{ p += $2; f += $3 } END { if (p > 1) printf ", %d passed", p; if (f) printf ", %d failed", f }' <<< "$counts")
place=
if [[ " ${STEPS:-} " == *" $name "* ]]; then
  read -ra steps <<< "$STEPS"
  left=()
  for step in "${steps[@]}"; do [ -e ".cache/logs/$step.counts" ] || left+=("$step"); done
  place="$((${#steps[@]} - ${#left[@]})) of ${#steps[@]}: "
  [ ${#left[@]} -eq 0 ] || [ ${#left[@]} -gt 3 ] || summary+="; left: ${left[*]}"
fi
if [ "$status" -eq 0 ] && [ "$failed" -eq 0 ]; then
  echo "ok      $place$name: $SECONDS s$summary"
  grep '^not checked: ' "$log" | sed 's/^/note    /'
  exit 0
fi
echo "FAILED  $place$name: $SECONDS s$summary; the last lines of $log:"
tail -n 150 "$log"
[ "$status" -ne 124 ] || echo "$name took more than 30 minutes"
exit 1
