#!/bin/sh
# Checks the requirements of a build and of the checks, and installs what is missing if possible: with apt-get, as root or through
# sudo.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

has swift || fail "Swift is missing. Assay needs Swift 6.2 or later: https://www.swift.org/install"
version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1 \2/p' | head -n 1)
major=${version% *}
minor=${version#* }
if [ "${major:-0}" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 2 ]; }; then
    fail "Swift ${version:+$major.$minor }is too old. Assay needs Swift 6.2 or later: https://www.swift.org/install"
fi

missing=""
for program in git openssl curl python3; do
    has "$program" || missing="$missing $program"
done
if [ "$(uname)" = Linux ]; then
    # The headers of the ledger's databases and of its compression.
    [ -e /usr/include/sqlite3.h ] || missing="$missing libsqlite3-dev"
    [ -e /usr/include/zlib.h ] || missing="$missing zlib1g-dev"
    [ -e /usr/include/postgresql/libpq-fe.h ] || [ -e /usr/include/libpq-fe.h ] || missing="$missing libpq-dev"
    # SwiftPM uses it to find libpq.
    has pkg-config || missing="$missing pkg-config"
    # The server that tests start themselves.
    has initdb || [ -n "$(find /usr/lib/postgresql -name initdb 2>/dev/null)" ] || missing="$missing postgresql"
    # On Debian, python3 needs a separate package for virtual environments; schemathesis is installed into one.
    if has python3; then python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
    else missing="$missing python3-venv"; fi
else
    # macOS has SQLite and zlib. Homebrew installs libpq without linking it; pkg-config finds it there.
    if has brew; then
        brew --prefix --installed libpq >/dev/null 2>&1 || missing="$missing libpq"
        has pkg-config || missing="$missing pkg-config"
        [ -n "$(find "$(brew --prefix)/opt" -maxdepth 1 -name 'postgresql*' 2>/dev/null)" ] || missing="$missing postgresql@15"
    fi
fi
[ -n "$missing" ] || exit 0
# shellcheck disable=SC2086
install_packages $missing || fail "Missing:$missing. Install them and try again (on macOS: brew install$missing)."
