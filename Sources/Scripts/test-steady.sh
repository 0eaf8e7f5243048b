#!/bin/sh
# Builds once, then runs the tests RUNS times under changing conditions, and reports each failed test with its runs.
#
#   test-steady.sh ARGUMENT...      of `swift build` and `swift test`
#
# RUNS        the number of runs, 6 by default. The conditions take turns.
# CONDITIONS  some of these, separated by spaces. All of them by default:
#             alone   `test.sh` alone
#             busy    beside one busy process for each processor
#             one     one test at a time
#             many    32 tests at a time
#             order   the suites in a random order (see `run_in_order`)
# FILTER      a regular expression. Only tests that match it run.
# SEED        the number that decides the first random order. Each next one adds 1.
#
# The exit status is 1 if a run failed. The logs of failed runs stay in .build/steady.
set -eu

runs=${RUNS:-6}
conditions=${CONDITIONS:-alone busy one many order}
filter=${FILTER:-}
seed=${SEED:-$(date +%s)}
scripts=$(dirname "$0")

case $runs in '' | *[!0-9]* | 0*)
    echo "RUNS must be a number from 1, and is \"$runs\"." >&2
    exit 2
    ;;
esac
for condition in $conditions; do
    case $condition in alone | busy | one | many | order) ;; *)
        echo "CONDITIONS has \"$condition\". It may have alone, busy, one, many and order." >&2
        exit 2
        ;;
    esac
done
[ -n "$(echo $conditions)" ] || { echo "CONDITIONS is empty." >&2; exit 2; }

busy=
# Ends the busy processes of this run.
end_busy() {
    [ -z "$busy" ] || kill -KILL $busy 2>/dev/null || :
    for process in $busy; do wait "$process" 2>/dev/null || :; done
    busy=
}
trap end_busy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Starts one busy process for each processor. The kernel kills it if this script ends without its EXIT trap.
start_busy() {
    for _ in $(seq "$(nproc)"); do
        setpriv --pdeathsig KILL -- sh -c 'while :; do :; done' &
        busy="$busy $!"
    done
}

swift build --build-tests "$@"

logs=.build/steady/$(date +%Y%m%d-%H%M%S)
mkdir -p "$logs"
# One line for each run: number, condition, seconds, status.
table=$logs/runs
# One line for each failed test of a run: condition, name and file.
failures=$logs/failures
: >"$table"
: >"$failures"

# Runs the tests once, with the filter and the further arguments of `swift test`.
run_all() {
    sh "$scripts/test.sh" --skip-build "$@" ${filter:+--filter "$filter"}
}

# Runs the suites in a random order. Swift Testing always starts them in the order of their source files, so this function assigns
# them to four parts at random and runs one part after the other. Within a part the order is Swift Testing's.
run_in_order() {
    parts=$logs/parts-$seed
    echo "Order of suites: SEED=$seed"
    swift test list --skip-build "$@" | { grep -P -e "$filter" || :; } | sed 's|/.*||' | sort -u |
        awk -v seed="$seed" 'BEGIN { srand(seed) } { printf "%.9f\t%s\n", rand(), $0 }' | sort -n | cut -f 2 |
        awk '{ gsub(/[.()]/, "[&]"); part[NR % 4] = part[NR % 4] "|" $0 }
            END { for (i = 0; i < 4; i++) if (part[i] != "") print "^(" substr(part[i], 2) ")(/|$)" }' >"$parts"
    [ -s "$parts" ] || { echo "error: no test matches \"$filter\"."; return 1; }
    result=0
    while read -r part; do
        # `read` needs the standard input, and no test reads it.
        sh "$scripts/test.sh" --skip-build "$@" --filter "$part" </dev/null || result=$?
    done <"$parts"
    rm -f "$parts"
    return "$result"
}

# Runs the tests under a condition.
run() {
    condition=$1
    shift
    case $condition in
    alone | busy) run_all "$@" ;;
    one) TESTS_AT_ONCE=1 run_all "$@" ;;
    many) TESTS_AT_ONCE=32 run_all "$@" ;;
    order) run_in_order "$@" ;;
    esac
}

# Prints the failed tests of a log, each with the place of its first issue. A run that failed without a failed test has ended early.
failed_tests() {
    awk '
        /^✘ Test .* recorded an issue/ {
            name = $0
            sub(/^✘ Test (case passing .* to )?/, "", name)
            place = name
            sub(/ recorded an issue.*/, "", name)
            sub(/ with [0-9]+ argument value.*/, "", name)
            if (!sub(/.* recorded an issue.* at /, "", place)) place = ""
            sub(/:[0-9]+: .*/, "", place)
            if (!(name in at)) { at[name] = place; order[++count] = name }
        }
        END { for (i = 1; i <= count; i++) print order[i] (at[order[i]] == "" ? "" : " (" at[order[i]] ")") }' "$1"
}

failed=0
number=0
while [ "$number" -lt "$runs" ]; do
    for condition in $conditions; do
        [ "$number" -lt "$runs" ] || break
        number=$((number + 1))
        log=$logs/$number-$condition.log
        printf 'Run %d of %d, %s: ' "$number" "$runs" "$condition"
        [ "$condition" != busy ] || start_busy
        began=$(date +%s)
        status=0
        run "$condition" "$@" >"$log" 2>&1 || status=$?
        seconds=$(($(date +%s) - began))
        end_busy
        [ "$condition" != order ] || seed=$((seed + 1))
        echo "$number $condition $seconds $status" >>"$table"
        if [ "$status" -eq 0 ]; then
            echo "passed after $seconds s"
            rm -f "$log"
            continue
        fi
        # Ctrl-C ends a run and with it this script.
        [ "$status" -ne 130 ] || exit 130
        failed=$((failed + 1))
        echo "FAILED after $seconds s, see $log"
        names=$(failed_tests "$log")
        [ -n "$names" ] || names="(no failed test: the run ended early, with status $status)"
        printf '%s\n' "$names" | sed "s/^/    /"
        printf '%s\n' "$names" | sed "s/^/$condition	/; s/:[0-9]*)\$/)/" >>"$failures"
    done
done

printf '\n%5s  %-9s  %7s  %s\n' run condition seconds result
awk '{ printf "%5d  %-9s  %7d  %s\n", $1, $2, $3, $4 == 0 ? "passed" : "FAILED" }' "$table"
if [ "$failed" -eq 0 ]; then
    printf '\nAll %d runs passed.\n' "$runs"
    rm -r "$logs"
    exit 0
fi
printf '\n%d of %d runs failed. Failed tests, and how often under which condition:\n' "$failed" "$runs"
awk -F '\t' '
    { if (!total[$2]++) tests[++count] = $2; times[$2, $1]++ }
    END {
        kinds = split("alone busy one many order", kind, " ")
        for (i = 1; i <= count; i++) {
            line = ""
            for (k = 1; k <= kinds; k++)
                if (times[tests[i], kind[k]]) line = line (line == "" ? "" : ", ") kind[k] " " times[tests[i], kind[k]]
            printf "  %d× %s: %s\n", total[tests[i]], tests[i], line
        }
    }' "$failures"
printf '\nThe logs of failed runs are in %s.\n' "$logs"
exit 1
