#!/usr/bin/env bash
# python.sh [PYTEST-ARGUMENT...]: the tests of python/, the fixtures for other people's tests, with build/asan/weir or
# WEIR_BINARY.
set -eu
cd "$(dirname "$0")/.."
tools/venv.sh
[ -n "${WEIR_BINARY:-}" ] || tools/build.sh asan
export WEIR_BINARY=${WEIR_BINARY:-$PWD/build/asan/weir}
rc=0
build/venv/bin/python -m pytest -c python/pytest.ini --rootdir python python/tests "$@" || rc=$?
[ "$rc" != 5 ] || echo "no test of python/tests has that in its name"
exit "$rc"
