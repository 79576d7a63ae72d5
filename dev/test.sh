#!/usr/bin/env bash
# Runs every check once, with whatever does not need the compiler beside it, and prints where the time went.
#
# There are two builds (docs/decisions.md, "What runs in debug"). The root package is built in debug, because assertions and
# the debug checks of the standard library exist there only. Both packages are built optimised, because users run that build,
# and because the compiler has miscompiled it before.
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/lib.sh
make_temporary_folder test
trap finish EXIT
# Each background step is a process group, so that it can be ended with its children.
set -m

: >"$folder/times"

# Runs a command and notes its time, and the processor time that it and its children used.
measure() {
    local name=$1 status=0 TIMEFORMAT=$'%0R\t%0U\t%0S'
    shift
    { time "$@" 2>&3 || status=$?; } 3>&2 2>"$folder/$name.time"
    printf '%s\t%s\t%d\n' "$name" "$(tail -n 1 "$folder/$name.time")" "$status" >>"$folder/times"
    return "$status"
}

# Runs a step; the script ends if it fails, or if a step in the background has failed meanwhile.
step() {
    local name
    printf '\n== %s\n' "$1"
    measure "$@"
    awk -F '\t' '$5 != 0 { print $1 }' "$folder/times" >"$folder/failed"
    while read -r name; do join "$name"; done <"$folder/failed"
}

# Runs a step in the background; its output appears with join.
beside() {
    measure "$@" >"$folder/$1.log" 2>&1 </dev/null &
    echo $! >"$folder/$1.process"
}

# Waits for a step in the background and prints its output; the script ends if it failed.
join() {
    local status=0
    wait "$(cat "$folder/$1.process")" || status=$?
    rm "$folder/$1.process"
    printf '\n== %s (ran beside other steps)\n' "$1"
    cat "$folder/$1.log"
    return "$status"
}

# Ends what still runs, prints the times, and says last how many tests passed.
finish() {
    local status=$? file process
    for file in "$folder"/*.process; do
        [ -e "$file" ] || continue
        process=$(cat "$file")
        kill -- "-$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    set +m
    awk -F '\t' -v all="$SECONDS" '
        BEGIN { printf "\n%-40s %8s %12s\n", "step", "seconds", "CPU seconds" }
        { printf "%-40s %8d %12d%s\n", $1, $2, $3 + $4, $5 == 0 ? "" : "  FAILED"; cpu += $3 + $4 }
        END { printf "%-40s %8d %12d\n", "all, where possible side by side", all, cpu }' "$folder/times"
    if [ "$status" -eq 0 ]; then
        # The same test in both configurations counts twice.
        sed -nE 's/.*Test run with ([0-9]+) tests? in .* passed.*/\1/p' "$folder"/*.tests |
            awk '{ sum += $1 } END { printf "\n%d passed, 0 failed\n", sum }'
    else
        say "make test failed"
    fi
    clean_up
    exit "$status"
}

# All test products of a package.
#
#   compile debug|release PACKAGE
compile() {
    swift build -c "$1" --package-path "$2" --scratch-path .build --disable-build-manifest-caching --build-tests
}

# Runs the tests that compile built. On Linux they are a program, which needs neither the package manager nor its lock, so it
# can run while something else is compiled.
#
#   run_tests debug|release PACKAGE NAME
run_tests() {
    local program=".build/$1/$3PackageTests.xctest" output="$folder/$1-$3.tests"
    if [ -f "$program" ]; then
        NO_COLOR=1 "$program" --testing-library swift-testing 2>&1 | tee "$output" || return
    else
        swift test -c "$1" --package-path "$2" --scratch-path .build --disable-build-manifest-caching \
            --skip-build --disable-xctest 2>&1 | tee "$output" || return
    fi
    # A run without a single test is no success.
    grep -qE 'Test run with [1-9][0-9]* tests? in .* passed' "$output"
}

beside "lint" dev/lint.sh
beside "installation of schemathesis" dev/check-api.sh --install
step "compilation in debug, root" compile debug .
join "lint"
join "installation of schemathesis"
beside "tests in debug, root" run_tests debug . assay
step "compilation optimised, root" compile release .
beside "tests optimised, root" run_tests release . assay
step "compilation optimised, server" compile release Server
beside "description of the HTTP interface" dev/check-api.sh .build/release
join "tests in debug, root"
join "tests optimised, root"
step "tests optimised, server" run_tests release Server assay-server
join "description of the HTTP interface"
