#!/bin/sh
# Flips every bit of receipts and signed data, measures what hostile evidence costs, and asks OpenSSL and Apple's library
# for Python for a second opinion (Torture/README.md). The exit status is 0 only if everything holds.
#
#   dev/torture.sh                        all parts
#   dev/torture.sh bits history           these parts: bits, history, cost, growth, opinion, receipts, jws
#   dev/torture.sh opinion --seed 7 --mutations 20000
#
# ASSAY_CORPUS names the folder with real receipts, ASSAY_PYTHON a Python with app-store-server-library.
set -eu
cd "$(dirname "$0")/.."

has() { command -v "$1" >/dev/null 2>&1; }
say() { echo "$@" >&2; }

folder=$(mktemp -d "${TMPDIR:-/tmp}/assay-torture.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# Set-up: what is missing is installed where that can be done.
missing=""
has pkg-config || missing="$missing pkg-config"
{ has pkg-config && pkg-config --exists libcrypto; } || missing="$missing libssl-dev"
if [ -n "$missing" ] && has apt-get && [ "$(id -u)" -eq 0 ]; then
    say "Installing$missing"
    # shellcheck disable=SC2086
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >/dev/null 2>"$folder/apt" ||
        say "apt-get could not install them: $(tail -n 1 "$folder/apt")"
fi
if ! { has pkg-config && pkg-config --exists libcrypto; }; then
    say "libssl-dev or pkg-config is missing, so OpenSSL cannot be asked."
    export ASSAY_TORTURE_OPENSSL=0
fi

say "Building"
build() {
    # shellcheck disable=SC2086
    swift build -c release --package-path Torture --product torture ${ASSAY_BUILD_OPTIONS:-} "$@"
}
# Otherwise files that were added to the core since the last time would not be found.
rm -f Torture/.build/release.yaml
build >"$folder/build" 2>&1 || { cat "$folder/build" >&2; exit 1; }
# The keys of minted receipts are kept, so that a mutation with a number is the same in every run.
mkdir -p .torture
export ASSAY_TORTURE_KEYS="$PWD/.torture/keys"
"$(build --show-bin-path 2>/dev/null)/torture" "$@"
