#!/usr/bin/env bash
# sim.sh [SEED]: one run of the simulator from its seed, or SEEDS=n runs (100) from seed 1 on.
set -eu
cd "$(dirname "$0")/.."
tools/build.sh asan weir-sim
if [ -n "${1:-}" ]; then
    exec build/asan/weir-sim --seed "$1"
fi
exec build/asan/weir-sim --seeds "${SEEDS:-100}"
