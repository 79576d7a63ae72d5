#!/bin/sh
# Formats the sources of all packages.
#
#   dev/format.sh            formats
#   dev/format.sh --check    fails on anything that it would change
set -eu
cd "$(dirname "$0")/.."

# Each package has a manifest and sources; other files are products of builds.
mode="--in-place"
[ "${1:-}" != --check ] || mode="lint --strict"
set --
for package in . Server StandIn Benchmarks; do
    for part in Package.swift Sources Tests Torture; do
        [ ! -e "$package/$part" ] || set -- "$@" "$package/$part"
    done
done
# shellcheck disable=SC2086
swift format $mode --recursive --parallel "$@"
