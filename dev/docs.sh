#!/bin/sh
# Makes the documentation of the libraries with DocC, from the doc comments and the catalogues beside the sources, in
# .build/documentation. A warning fails, such as a link that leads nowhere.
set -eu
cd "$(dirname "$0")/.."
docc=$(command -v docc || xcrun --find docc)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members >"$log" 2>&1 ||
    { cat "$log" >&2; exit 1; }
graphs=$(sed -n 's/^Files written to //p' "$log")
mkdir -p .build/documentation
for module in PurchaseVerification AppStoreSimulator; do
    folder=$graphs/of-$module
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "$graphs/$module.symbols.json" "$graphs/$module@"*.json "$folder" 2>/dev/null || true
    "$docc" convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$folder" \
        --output-dir ".build/documentation/$module.doccarchive" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
    # A parameter whose name says it all has no comment, here as everywhere.
    if grep -E '^(warning|error): ' "$log" | grep -v 'is missing documentation$'; then exit 1; fi
    echo "$module: .build/documentation/$module.doccarchive"
done
