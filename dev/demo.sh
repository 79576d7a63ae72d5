#!/bin/sh
# Builds the program and runs the demonstration, which takes --verbose and --keep. Says at its start how long that takes, and how far
# it is.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

if [ -x .build/release/assay ]; then
    say "1 of 3: checking what the build needs. The program is built already; only changes are compiled."
else
    say "This builds the program first: 10 to 25 minutes on two cores, once, and 2 GB of disk. The demonstration itself takes less"
    say "than a minute. (On Debian, a package of a release needs neither: docs/operations.md, \"Install\".)"
    say "1 of 3: checking what the build needs"
    free=$(df -Pk . | awk 'NR == 2 { print $4 }')
    [ "$free" -gt 3000000 ] || fail "$((free / 1000)) MB are free here; the build needs 3 GB"
fi
dev/setup.sh
say "2 of 3: building the program; [n/m] counts the steps"
swift build -c release --package-path Server --scratch-path .build --disable-build-manifest-caching --product assay
say "3 of 3: the demonstration"
# On a terminal, the servers stay for a look in the browser.
if [ -t 1 ]; then set -- --keep "$@"; fi
exec python3 dev/demo.py "$@"
