#!/usr/bin/env bash
# sim.sh [SEED]: one run of the simulator from its seed, or SEEDS=n runs (100) from seed 1 on.
set -eu
cd "$(dirname "$0")/.."
case ${1:-0}${SEEDS:-0} in *[!0-9]*) echo "a seed is a number, not ${1:-$SEEDS}" >&2; exit 64 ;; esac
tools/build.sh asan weir-sim
if [ -n "${1:-}" ]; then
    exec build/asan/weir-sim --seed "$1"
fi
exec build/asan/weir-sim --seeds "${SEEDS:-100}"
