#!/bin/sh
# Checks the requirements of a build and of the checks, and installs what is missing if possible: with apt-get, as root or through
# sudo.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

# Prints the commands that install Swift on this system, as https://www.swift.org/install describes them, and ends.
explain_swift() {
    say "$1 Assay needs Swift 6.2 or later."
    if [ "$(uname)" = Darwin ]; then
        say "Install it with Xcode 26 from the App Store, or without Xcode:"
        say
        say "    curl -O https://download.swift.org/swiftly/darwin/swiftly.pkg"
        say "    installer -pkg swiftly.pkg -target CurrentUserHomeDirectory"
        say "    ~/.swiftly/bin/swiftly init --assume-yes && . ~/.swiftly/env.sh"
    else
        say "Install it with swiftly, the installer of the Swift project (1 GB to download, 3 GB of disk):"
        say
        if has apt-get; then
            packages="binutils ca-certificates curl gnupg2 libc6-dev libcurl4-openssl-dev libgcc-s1 libncurses-dev libstdc++-12-dev"
            say "    sudo apt-get install $packages libxml2-dev tzdata zlib1g-dev"
        fi
        say "    curl -O https://download.swift.org/swiftly/linux/swiftly-$(uname -m).tar.gz"
        say "    tar zxf swiftly-$(uname -m).tar.gz"
        say "    ./swiftly init --assume-yes && . ~/.local/share/swiftly/env.sh && hash -r"
    fi
    say
    say "Then try again. https://www.swift.org/install has other ways. To run Assay, you need no Swift: take a package of a release"
    say "(docs/operations.md)."
    exit 1
}

has swift || explain_swift "Swift is missing."
version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1 \2/p' | head -n 1)
major=${version% *}
minor=${version#* }
if [ "${major:-0}" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 2 ]; }; then
    explain_swift "Swift ${version:+$major.$minor }is too old."
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
