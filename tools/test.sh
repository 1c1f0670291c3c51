#!/usr/bin/env bash
# test.sh SUITE...: runs the suites unit, sim, e2e, python one after the other, whatever the one before said. Of each one line
# with its counts and seconds; of a failing one its output too. The last line counts all. A suite that takes longer than
# its budget is ended and has failed; with WEIR_LONG there is none.
set -u
cd "$(dirname "$0")/.."
mkdir -p build/log
passed=0 failed=0

# count NAME LOG: sets good and bad from what the suite printed.
count() {
    case $1 in
    unit) # ctest: "98% tests passed, 1 tests failed out of 50"
        read -r bad total < <(sed -nE 's/.* ([0-9]+) tests? failed out of ([0-9]+).*/\1 \2/p' "$2" | tail -1) || { bad=1 total=1; }
        good=$((total - bad)) ;;
    sim) # weir-sim: one line with a digest for each run that came to its end, and it stops at the first that does not
        good=$(grep -c ' digest=' "$2")
        bad=$(grep -E ' seed=' "$2" | grep -vc ' digest=') ;;
    *) # pytest: "12 passed, 1 failed" in either order
        good=$(grep -oE '[0-9]+ passed' "$2" | tail -1 | grep -oE '[0-9]+') || good=0
        bad=$(grep -E '[0-9]+ (passed|failed)' "$2" | tail -1 | grep -oE '[0-9]+ (failed|errors?)' | awk '{n += $1} END {print n + 0}') ;;
    esac
}

# suite NAME SECONDS COMMAND...: building and installing count, too.
suite() {
    local log=build/log/$1.log begin=$SECONDS rc=0 budget=${WEIR_LONG:+0} command
    [ -t 1 ] || echo "$1: runs, its output goes to $log"
    command=(timeout -k 10 "${budget:-$2}" "${@:3}")
    [ ! -t 1 ] || command=(timeout --foreground "${command[@]:1}") # so that Ctrl-C reaches it
    if [ -t 1 ]; then "${command[@]}" 2>&1 | tee "$log"; rc=${PIPESTATUS[0]}; else "${command[@]}" >"$log" 2>&1 || rc=$?; fi
    [ "$rc" != 124 ] || echo "$1: ended after its budget of $2 s" | tee -a "$log"
    count "$1" "$log"
    [ "$rc" = 0 ] || [ "$bad" -gt 0 ] || bad=1
    [ "$rc" = 0 ] || [ -t 1 ] || tail -200 "$log"
    echo "$1: $good passed, $bad failed ($((SECONDS - begin)) s)"
    passed=$((passed + good)) failed=$((failed + bad))
}

for name in "$@"; do
    case $name in
    unit) suite unit 600 make --no-print-directory unit ;;
    sim) SEEDS=${SEEDS:-${WEIR_LONG:+1000}} suite sim 120 tools/sim.sh ;;
    e2e) suite e2e 1800 tools/e2e.sh ;;
    python) suite python 120 tools/python.sh ;;
    *) echo "no suite $name" >&2; exit 64 ;;
    esac
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
