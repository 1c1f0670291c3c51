#!/usr/bin/env bash
# fuzz.sh TARGET [SECONDS]: runs one fuzz target under libFuzzer, from its corpus; what it finds new is kept in
# build/corpus/. A crash prints the file to put into test/corpus/. Without a target: the list.
set -eu
cd "$(dirname "$0")/.."
list() { find src -name '*_fuzz.c' -printf '%f\n' | sed 's/_fuzz\.c$//' | sort; }
name=${1%_fuzz}
list | grep -qx "$name" || { echo "make fuzz F=TARGET, one of:"; list | sed 's/^/  /'; exit 64; }
tools/build.sh fuzz "${name}_fuzz"
mkdir -p "build/corpus/$name" "test/corpus/${name}_fuzz"
exec "build/fuzz/${name}_fuzz" -max_total_time="${2:-60}" -rss_limit_mb=2048 -timeout=10 -artifact_prefix="build/corpus/$name-" \
    "build/corpus/$name" "test/corpus/${name}_fuzz"
