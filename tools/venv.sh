#!/usr/bin/env bash
# venv.sh: makes build/venv with the Python packages of test/e2e/requirements.txt, once; again when that file changes.
set -eu
cd "$(dirname "$0")/.."
stamp=build/venv/requirements.done
cmp -s test/e2e/requirements.txt "$stamp" && exit 0
tools/deps.sh
echo "installing the Python packages of test/e2e/requirements.txt into build/venv"
rm -rf build/venv
python3 -m venv build/venv
build/venv/bin/pip install -q --disable-pip-version-check --no-deps -r test/e2e/requirements.txt
cp test/e2e/requirements.txt "$stamp"
