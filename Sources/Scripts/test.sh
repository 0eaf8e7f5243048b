#!/bin/sh
# Runs the tests. At the end, it lists again what was left out and what failed, because a whole run prints thousands of lines.
#
#   test.sh ARGUMENT...      arguments of `swift test`
#
# Runs four times as many tests at once as there are processors (TESTS_AT_ONCE), because tests mostly wait: with three per
# processor the machine was idle for 18 % of the time, with one and a half for a third. Swift Testing would start hundreds. Then
# daemons, databases and browsers would wait for one another, and deadlines of a second would be missed. Under a sanitizer,
# where tests wait less, it is three.
set -eu

case " $* " in *" --sanitize"*) each=3 ;; *) each=4 ;; esac
SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${TESTS_AT_ONCE:-$(($(nproc) * each))}
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH

# Tests with many connections have both ends in one process, which needs more than an ordinary user's 1,024 descriptors.
ulimit -S -n "$(ulimit -H -n)" || :

# Backtraces of errors aren't read, and recording them took a twentieth of the CPU time.
export SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0

# A test that hangs ends the run after this time. The tests that haven't ended are listed then.
limit=${TESTS_LIMIT:-60m}

# The compiler, the browser and others leave files in the temporary directory. This one is removed at the end.
TMPDIR=$(mktemp -d)
export TMPDIR
output=$TMPDIR/output
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The status of a pipeline is that of its last command, so the tests' status is passed around tee through descriptor 3. Lines are
# printed as they are written.
exec 4>&1
status=$({ { timeout --foreground --kill-after=30s --signal=INT "$limit" stdbuf -oL swift test "$@" 2>&1 3>&- 4>&- ||
    echo $? >&3; } | tee "$output" >&4; } 3>&1)

# Counts skipped tests by their reason, and collects what tests report as left out (Tests/Support/TestSupport/SkippedTests.swift).
left_out=$(awk '
    /^➜ Test .* skipped/ {
        reason = sub(/.* skipped: /, "") ? $0 : "no reason given"
        gsub(/^"|"$/, "", reason)
        skipped[reason]++
    }
    sub(/^Left out: /, "") && !seen[$0]++ { print "  " $0 }
    END { for (reason in skipped) printf "  skipped, %d: %s\n", skipped[reason], reason }' "$output")
[ -z "$left_out" ] || printf '\nWhat was left out:\n%s\n' "$left_out"

[ -n "$status" ] || exit 0
if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    printf '\nStill running after %s:\n' "$limit"
    awk -v ending='( with [0-9]+ test cases?)? (passed after|failed after|skipped)[^"]*("[^"]*")?[.]?$' '
        /^◇ Test .* started\.$/ && !/^◇ Test case / { sub(/^[^ ]+ /, ""); sub(/ started\.$/, ""); begun[$0] = 1 }
        /^(✔|✘|➜) Test / { sub(/^[^ ]+ /, ""); sub(ending, ""); delete begun[$0] }
        END { for (test in begun) if (test !~ /^Test run/) print "  " test }' "$output"
fi
printf '\nWhat failed:\n'
awk '/^✘/ { failed = 1 } !/^(✘|↳|  )/ { failed = 0 } failed || /error: |Sanitizer/' "$output"
exit "$status"
