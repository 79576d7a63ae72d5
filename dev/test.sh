#!/usr/bin/env bash
# Runs every check once, runs those that do not need the compiler in the background, and prints the time of each.
#
# All packages are built in one configuration, optimised: users run that build, and the compiler has miscompiled it before. Each
# further configuration would compile all dependencies again. The tests in debug, with assertions, are part of `make torture`
# (docs/decisions.md, 6).
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/lib.sh
make_temporary_folder test
trap finish EXIT
# Each background step is a process group, so that it can be ended with its children.
set -m

: >"$folder/times"

# Runs a command and records its time, and the processor time of it and its children.
measure() {
    local name=$1 status=0 TIMEFORMAT=$'%0R\t%0U\t%0S'
    shift
    { time "$@" 2>&3 || status=$?; } 3>&2 2>"$folder/$name.time"
    printf '%s\t%s\t%d\n' "$name" "$(tail -n 1 "$folder/$name.time")" "$status" >>"$folder/times"
    return "$status"
}

# Runs a step; the script ends if it fails, or if a background step has failed in the meantime.
step() {
    local name
    printf '\n== %s\n' "$1"
    measure "$@"
    awk -F '\t' '$5 != 0 { print $1 }' "$folder/times" >"$folder/failed"
    while read -r name; do join "$name"; done <"$folder/failed"
}

# Runs a step in the background; `join` prints its output.
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

# Ends running steps, prints the times, and finally the number of passed tests.
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
        sed -nE 's/.*Test run with ([0-9]+) tests? in .* passed.*/\1/p' "$folder"/*.tests |
            awk '{ sum += $1 } END { printf "\n%d passed, 0 failed\n", sum }'
    else
        # The end of the output is what a reader sees first, and thousands of passed tests stand before it.
        grep -hE -A 3 '^✘ .* recorded an issue|Fatal error|unexpected signal' "$folder"/*.tests 2>/dev/null | cut -c -600 | head -n 60 || true
        say "make test failed"
    fi
    clean_up
    exit "$status"
}

# All test products of a package.
compile() {
    swift build -c release --package-path "$1" --scratch-path .build --disable-build-manifest-caching --build-tests
}

# The number of tests that run at the same time. If all ran at once, each would take as long as all together, and the time limits
# that a server has for its clients would end requests of tests that wait for a processor.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=32

# Runs the tests that `compile` built. On Linux they are a program, which needs neither the package manager nor its lock, so it
# can run during a compilation.
#
#   run_tests PACKAGE PROGRAM NAME
run_tests() {
    local program=$2 output="$folder/$3.tests"
    if [ -f "$program" ]; then
        NO_COLOR=1 "$program" --testing-library swift-testing 2>&1 | tee "$output" || return
    else
        swift test -c release --package-path "$1" --scratch-path .build --disable-build-manifest-caching \
            --skip-build --disable-xctest 2>&1 | tee "$output" || return
    fi
    # A run without a single test is a failure.
    grep -qE 'Test run with [1-9][0-9]* tests? in .* passed' "$output"
}

# The samples in the documents, the tutorial as a new user runs it, the demonstration, and a subscription over two years.
check_documents() {
    dev/check.py samples .build/release/assay || return
    dev/check-tutorial.py .build/release || return
    ASSAY_BIN=.build/release dev/demo.py >"$folder/demo" || { tail -50 "$folder/demo"; return 1; }
    tail -1 "$folder/demo"
    ASSAY_BIN=.build/release dev/two_years.py --check >"$folder/two-years" || { cat "$folder/two-years"; return 1; }
    tail -1 "$folder/two-years"
}

# A few rounds of `dev/torture.sh news-servers`.
kill_servers() { dev/load.py news-servers .build/release/assay --rounds 4 --webhook 0; }

# The same of `dev/torture.sh jetstream`, with a NATS server of PyPI.
kill_streams() { dev/load.py jetstream .build/release/assay --rounds 3; }

# Tests the StoreKit adapters with a stand-in, on systems without StoreKit.
stand_in() {
    compile StandIn || return
    run_tests StandIn .build/release/assay-stand-inPackageTests.xctest stand-in
}

beside "lint" dev/lint.sh
beside "installation of schemathesis" dev/check-api.sh --install
step "compilation, root" compile .
join "installation of schemathesis"
beside "tests, root" run_tests . .build/release/assayPackageTests.xctest root
# The largest modules are optimised on one processor, so lint, which takes minutes, has the other one.
step "compilation, server" compile Server
join "lint"
beside "description of the HTTP interface" dev/check-api.sh .build/release
join "tests, root"
step "tests, server" run_tests Server .build/release/assay-serverPackageTests.xctest server
[ "$(uname)" != Linux ] || step "StoreKit adapters, against the stand-in" stand_in
join "description of the HTTP interface"
step "three servers, killed while notifications arrive" kill_servers
step "a NATS server, killed while events are delivered to its stream" kill_streams
step "documents" check_documents
