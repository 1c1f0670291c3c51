#!/usr/bin/env bash
# rust_tests.sh: builds the integration tests of Fluss's Rust client, out of the very release that test/e2e-flink/rust names
# (Apache License 2.0), in build/flink/rust; once. Prints the program, or nothing where there is no cargo.
set -euo pipefail
cd "$(dirname "$0")/.."
here=test/e2e-flink/rust to=build/flink/rust
command -v cargo >/dev/null || exit 0
version=$(sed -n 's/^fluss-rs = { version = "=\([0-9.]*\)".*/\1/p' $here/Cargo.toml)
if [ ! -e $to/program ] || [ -n "$(find $here -newer $to/program)" ]; then
    cargo info -q "fluss-rs@$version" >/dev/null # brings its source
    source=$(echo "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"fluss-rs-$version")
    rm -rf $to/tests $to/program
    mkdir -p $to
    cp -r $here/. $source/tests $source/Cargo.lock $to
    (cd $to && cargo test -q --no-run --features integration_tests --test test_fluss --message-format json) |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' >$to/program.new
    mv $to/program.new $to/program
fi
cat $to/program
