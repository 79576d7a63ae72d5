#!/bin/sh
# Writes the documentation of every module that has a catalogue with DocC to .build/documentation, from the doc comments and
# the catalogue. A warning, such as a link that leads nowhere, fails.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh
make_temporary_folder docs
docc=$(command -v docc || xcrun --find docc) || fail "docc is missing; it comes with the Swift toolchain"
mkdir -p .build/documentation

# The documentation of the modules of one package.
document() {
    say "Building the package in $1"
    swift package --package-path "$1" --scratch-path "$scratch" --disable-build-manifest-caching \
        dump-symbol-graph --minimum-access-level public --skip-synthesized-members >"$folder/log" 2>&1 ||
        fail "$(cat "$folder/log")"
    graphs=$(sed -n 's/^Files written to //p' "$folder/log")
    for catalogue in "$1"/Sources/*/*.docc; do
        module=$(basename "$(dirname "$catalogue")")
        rm -rf "${folder:?}/$module"
        mkdir "$folder/$module"
        cp "$graphs/$module.symbols.json" "$folder/$module"
        cp "$graphs/$module@"*.json "$folder/$module" 2>/dev/null || true
        "$docc" convert "$catalogue" --additional-symbol-graph-dir "$folder/$module" \
            --output-dir ".build/documentation/$module.doccarchive" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
        # Parameters whose names say it all have no comment.
        if grep -E '^(warning|error): ' "$folder/log" | grep -v 'is missing documentation$' >&2; then
            fail "The documentation of $module has warnings."
        fi
        echo "$module: .build/documentation/$module.doccarchive"
    done
}

document .
document Server
