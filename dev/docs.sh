#!/bin/sh
# Writes the documentation to .build/documentation: the documents as HTML, and the libraries with DocC, from their doc comments
# and catalogues. A link that leads nowhere fails, and so does a warning of DocC.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh
make_temporary_folder docs
docc=$(command -v docc || xcrun --find docc) || fail "docc is missing; it comes with the Swift toolchain"
site=.build/documentation
rm -rf "$site"
mkdir -p "$site"
dev/check.py links

# The documentation of the modules of one package.
document() {
    say "Building the package in $1"
    # The command also asks for the symbols of the test runner's generated modules. Some toolchains have not built them at this point
    # and exit with an error, after they have written all others. A missing graph is an error below.
    rm -rf "$scratch"/*/symbolgraph
    swift package --package-path "$1" --scratch-path "$scratch" --disable-build-manifest-caching \
        dump-symbol-graph --minimum-access-level public --skip-synthesized-members >"$folder/symbols" 2>&1 || true
    graphs=$(sed -n 's/^Files written to //p' "$folder/symbols")
    for catalogue in "$1"/Sources/*/*.docc; do
        module=$(basename "$(dirname "$catalogue")")
        rm -rf "${folder:?}/$module"
        mkdir "$folder/$module"
        [ -f "$graphs/$module.symbols.json" ] || fail "$(tail -n 40 "$folder/symbols")
There are no symbols of $module; the reason is above."
        cp "$graphs/$module.symbols.json" "$folder/$module"
        cp "$graphs/$module@"*.json "$folder/$module" 2>/dev/null || true
        "$docc" convert "$catalogue" --additional-symbol-graph-dir "$folder/$module" \
            --transform-for-static-hosting --hosting-base-path "$module" --output-dir "$site/$module" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
        # Parameters whose names say it all have no comment.
        if grep -E '^(warning|error): ' "$folder/log" | grep -v 'is missing documentation$' >&2; then
            fail "The documentation of $module has warnings."
        fi
        echo "$module: $site/$module"
    done
}

document .
document Server
tools=$(python_tools docs markdown) || fail "PyPI's markdown cannot be installed"
"$tools/bin/python" dev/site.py "$site"
echo "Read it with: python3 -m http.server --directory $site, at http://127.0.0.1:8000"
