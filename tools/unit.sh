#!/usr/bin/env bash
# unit.sh PRESET [WORD]: unit, golden and corpus tests; with a word those with it in their full name. None is an error.
set -eu
cd "$(dirname "$0")/.."
preset=$1 word=${2:-}
tools/build.sh "$preset"
mark=$PWD/build/$preset.ran
rm -f "$mark"
if [ -z "$word" ]; then exec ctest --preset "$preset" --progress; fi
WEIR_TEST_FILTER=$word WEIR_TEST_RAN=$mark ctest --preset "$preset" --progress
[ -e "$mark" ] || { echo "no unit test has '$word' in its name"; exit 1; }
