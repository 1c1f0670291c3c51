#!/usr/bin/env bash
# pyfluss_tests.sh: brings the test suite of Fluss's Python client into build/pyfluss, once: test/ and example/ out of the
# source distribution of the very release that build/venv has (Apache License 2.0), and site/ with what only they need.
# Nothing of pyfluss is built: pip asks the source for its name and version before it hands the file over, and that
# question goes to a stand-in for its build tool.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^pyfluss==//p' test/e2e/requirements.txt)
plugins=(pytest-asyncio==1.3.0 filelock==3.20.0)
stamp=build/pyfluss/done
[ "$(cat $stamp 2>/dev/null)" = "$version ${plugins[*]}" ] && exit 0
pip=(build/venv/bin/pip -q --disable-pip-version-check)
rm -rf build/pyfluss
mkdir -p build/pyfluss/stub
cat >build/pyfluss/stub/maturin.py <<PY
import pathlib

def prepare_metadata_for_build_wheel(directory, config_settings=None):
    info = pathlib.Path(directory, "pyfluss-$version.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pyfluss\nVersion: $version\n")
    return info.name
PY
PYTHONPATH=$PWD/build/pyfluss/stub "${pip[@]}" download --no-deps --no-build-isolation --no-binary pyfluss -d build/pyfluss "pyfluss==$version"
tar -xzf "build/pyfluss/pyfluss-$version.tar.gz" -C build/pyfluss --strip-components=1
"${pip[@]}" install --no-deps --target build/pyfluss/site "${plugins[@]}"
echo "$version ${plugins[*]}" >$stamp
