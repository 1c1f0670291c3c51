#!/usr/bin/env bash
# lint_fast.sh: the checks that take a few seconds, for each change: layers, banned calls, sizes, words, and the format of
# the C files that differ from main. `make lint` runs these on everything, and the slow ones.
set -u
cd "$(dirname "$0")/.."
failed=0
check() {
    local out
    out=$("$@" 2>&1) || { echo "$out"; failed=1; }
}
check tools/check_layers.py
check tools/check_banned.py
check tools/check_house.py
check tools/check_text.py --new
check tools/check_docs.py
check tools/check_pains.py
if command -v clang-format >/dev/null; then
    mapfile -t changed < <({ git diff --name-only --diff-filter=d main 2>/dev/null || git ls-files; git ls-files -o --exclude-standard; } |
        grep -E '^(src|test|bench)/.*\.[ch]$' | sort -u)
    [ ${#changed[@]} = 0 ] || check clang-format --dry-run -Werror "${changed[@]}"
fi
exit $failed
