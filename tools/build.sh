#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: installs what is missing, configures at the first time, builds. Quiet where all is well,
# ninja's line of progress on a terminal.
set -eu
cd "$(dirname "$0")/.."
preset=$1; shift
if [ "$preset" = fuzz ]; then tools/deps.sh lint; else tools/deps.sh; fi
mkdir -p build
if [ ! -e "build/$preset/build.ninja" ]; then
    cmake --preset "$preset" >"build/$preset.cmake.log" 2>&1 || { cat "build/$preset.cmake.log"; exit 1; }
fi
quiet=--quiet; [ -t 1 ] && quiet=
cmake --build --preset "$preset" ${1:+--target "$@"} -- $quiet
