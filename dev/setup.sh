#!/bin/sh
# Says what a build needs and does not find, and installs it where it can: with apt-get, as root or through sudo.
set -eu
command -v swift >/dev/null 2>&1 || {
    echo "Swift is missing. Assay needs Swift 6.2 or later: https://www.swift.org/install" >&2
    exit 1
}
version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1 \2/p' | head -n 1)
set -- ${version:-0 0}
if [ "$1" -lt 6 ] || { [ "$1" -eq 6 ] && [ "$2" -lt 2 ]; }; then
    echo "Swift $1.$2 is too old. Assay needs Swift 6.2 or later: https://www.swift.org/install" >&2
    exit 1
fi

missing=""
for program in git openssl curl python3; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
# The headers of what the ledger keeps its books with. macOS has both.
for header in sqlite3:libsqlite3-dev zlib:zlib1g-dev; do
    [ "$(uname)" = Linux ] && [ ! -e "/usr/include/${header%%:*}.h" ] && missing="$missing ${header#*:}"
done
[ -z "$missing" ] && exit 0

if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" -eq 0 ]; then sudo=""; else sudo="sudo"; fi
    echo "Installing$missing"
    # shellcheck disable=SC2086
    if { [ -z "$sudo" ] || command -v sudo >/dev/null 2>&1; } &&
        $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends $missing; then
        exit 0
    fi
fi
echo "Missing:$missing. Install them and try again (on macOS: brew install$missing)." >&2
exit 1
