#!/bin/sh
# Runs the tests, and says at the end again what was left out and what failed: the output of a whole run is thousands of lines.
#
#   test.sh ARGUMENT...      of `swift test`
#
# Four times as many as there are processors run at a time (TESTS_AT_ONCE): most of what tests do is waiting, and with three for each, 18 %
# of the machine's time passed in it, with one and a half a third. Swift Testing would start hundreds: daemons, databases and browsers
# would wait for one another, and what is due within a second would be late for that reason alone. Under a sanitizer, which works where
# others wait, it is three.
set -eu

case " $* " in *" --sanitize"*) each=3 ;; *) each=4 ;; esac
SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${TESTS_AT_ONCE:-$(($(nproc) * each))}
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH

# Crowds have both their ends in one process, and an ordinary user's 1,024 descriptors are soon used up.
ulimit -S -n "$(ulimit -H -n)" || :

# Nobody reads where an error was thrown, and taking that down, for each error in all that runs, was a twentieth of the processor's time.
export SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0

# A test that waits for ever ends the run, by name: what has begun and not ended then is all that was left.
limit=${TESTS_LIMIT:-60m}

# The compiler, the browser and others leave things in the directory for temporary files; this one goes.
TMPDIR=$(mktemp -d)
export TMPDIR
output=$TMPDIR/output
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A pipeline's status is its last command's; that of the tests comes past tee, through descriptor 3. Lines leave as they
# are written.
exec 4>&1
status=$({ { timeout --foreground --kill-after=30s --signal=INT "$limit" stdbuf -oL swift test "$@" 2>&1 3>&- 4>&- ||
    echo $? >&3; } | tee "$output" >&4; } 3>&1)

# Tests that were skipped, counted by their reason, and what tests say that they left out (Tests/Support/TestSupport/LeftOut.swift).
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
    printf '\nNot ended within %s:\n' "$limit"
    awk -v ending='( with [0-9]+ test cases?)? (passed after|failed after|skipped)[^"]*("[^"]*")?[.]?$' '
        /^◇ Test .* started\.$/ && !/^◇ Test case / { sub(/^[^ ]+ /, ""); sub(/ started\.$/, ""); begun[$0] = 1 }
        /^(✔|✘|➜) Test / { sub(/^[^ ]+ /, ""); sub(ending, ""); delete begun[$0] }
        END { for (test in begun) if (test !~ /^Test run/) print "  " test }' "$output"
fi
printf '\nWhat failed:\n'
awk '/^✘/ { failed = 1 } !/^(✘|↳|  )/ { failed = 0 } failed || /error: |Sanitizer/' "$output"
exit "$status"
