#!/usr/bin/env bash
# Installs the Debian packages that building and testing need. Does nothing, in a moment, where they are all there.
set -eu
packages=(build-essential cmake ninja-build pkg-config git python3 python3-venv librocksdb-dev libsqlite3-dev libzstd-dev
    liblz4-dev libsnappy-dev zlib1g-dev libisal-dev libjansson-dev libyaml-dev libmicrohttpd-dev libcmocka-dev tzdata)
[ "${1:-}" = lint ] && packages+=(clang clang-tidy clang-format libclang-rt-14-dev)
[ "${1:-}" = java ] && packages=(openjdk-17-jdk-headless maven)
missing=()
for p in "${packages[@]}"; do
    dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || missing+=("$p")
done
[ ${#missing[@]} = 0 ] && exit 0
echo "installing ${#missing[@]} Debian packages: ${missing[*]}"
[ "$(id -u)" = 0 ] || { echo "this needs root: apt-get install ${missing[*]}" >&2; exit 77; }
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
