#!/usr/bin/env bash
# e2e.sh [PYTEST-ARGUMENT...]: the whole-system tests of test/e2e against build/asan/weir, or against WEIR_E2E_BINARY, or
# a running server (test/e2e/README.md).
set -eu
cd "$(dirname "$0")/.."
tools/venv.sh
[ -n "${WEIR_E2E_BINARY:-}${WEIR_E2E_BOOTSTRAP:-}" ] || tools/build.sh asan
rc=0
build/venv/bin/python -m pytest -c test/e2e/pytest.ini test/e2e "$@" || rc=$?
[ "$rc" != 5 ] || echo "no test of test/e2e has that in its name"
exit "$rc"
