# Counts the tests that test runners report: lines of a runner's name, passed and failed tests, between tabs.
function number(word) { return match($0, "[0-9]+ " word) ? substr($0, RSTART) + 0 : 0 }
function add(runner, ok, wrong) { passed[runner] += ok; failed[runner] += wrong }
{ gsub(/\033\[[0-9;]*m/, "") }
/^ *Summary \[.* tests? run: / { add("nextest", number("passed"), number("tests? run") - number("passed")) }
/^test result: / { add("cargo test", number("passed"), number("failed")) }
/^(=+ )?[0-9]+ (passed|failed|error).* in [0-9.]+s/ { add("pytest", number("passed"), number("failed") + number("error")) }
NF == 3 && ($1 == "#" || $1 == "ℹ") && $2 == "pass" { add("node --test", $3, 0) }
NF == 3 && ($1 == "#" || $1 == "ℹ") && $2 == "fail" { add("node --test", 0, $3) }
/^[0-9]+ passed, [0-9]+ failed$/ { add("scripts", $1, $3) }
END {
  # nextest shows what a test that failed has printed, with a result line of its own.
  if ("nextest" in passed) delete passed["cargo test"]
  for (runner in passed) printf "%s\t%d\t%d\n", runner, passed[runner], failed[runner]
}
