#!/usr/bin/env bash
# lint.sh: all checks that need no running program. Prints one line a check; of a failing one its output. The last line
# counts.
set -u
cd "$(dirname "$0")/.."
tools/deps.sh lint || exit
passed=0 failed=0
check() {
    local begin=$SECONDS out
    if out=$("${@:2}" 2>&1); then
        passed=$((passed + 1)); echo "$1: ok ($((SECONDS - begin)) s)"
    else
        failed=$((failed + 1)); echo "$out"; echo "$1: FAILED ($((SECONDS - begin)) s)"
    fi
}
sources() { git ls-files -co --exclude-standard '*.[ch]' | grep -E '^(src|test|bench)/'; }
format() { sources | xargs clang-format --dry-run -Werror; }
# The whole library once more with gcc's path analysis; -O1 lets it see through small helpers. NULL is left out: it does
# not see that a reader or a call that is well has set its result, and found nothing else.
analyze() {
    [ -e build/lint/build.ninja ] || cmake --preset lint >build/lint.cmake.log 2>&1 || { cat build/lint.cmake.log; return 1; }
    cmake --build --preset lint --target weircore -- --quiet -k 0
}
tidy() {
    tools/build.sh asan generated || return
    sources | grep -E '^src/.*\.c$' | grep -vE '_(test|fuzz)\.c$' |
        xargs -P "$(nproc)" -n 8 clang-tidy -p build/asan --quiet --extra-arg=-Wno-unknown-warning-option 2>/dev/null
}
check format format
check layers tools/check_layers.py
check banned tools/check_banned.py
check sizes tools/check_house.py
check text tools/check_text.py
check docs tools/check_docs.py
check pains tools/check_pains.py
check shell bash -n tools/*.sh .ci/run
check analyzer analyze
check tidy tidy
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
