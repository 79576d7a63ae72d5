#!/usr/bin/env bash
# Runs every check once, with whatever does not need the compiler beside it, and prints where the time went.
#
# There are two builds (docs/decisions.md, 39). The root package is built in debug, because assertions and the debug checks
# of the standard library exist there only. Both packages are built optimised, because users run that build, and because the
# compiler has miscompiled it before.
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/lib.sh
make_temporary_folder test
trap finish EXIT
# Each background step is a process group, so that it can be ended with its children.
set -m

declare -A background=()
: >"$folder/times"

# Runs a command and notes its time.
measure() {
    local name=$1 begin=$SECONDS status=0
    shift
    "$@" || status=$?
    printf '%s\t%d\t%d\n' "$name" $((SECONDS - begin)) "$status" >>"$folder/times"
    return "$status"
}

# Runs a step; the script ends if it fails.
step() {
    printf '\n== %s\n' "$1"
    measure "$@"
}

# Runs a step in the background; its output appears with join.
beside() {
    measure "$@" >"$folder/$1.log" 2>&1 </dev/null &
    background[$1]=$!
}

# Waits for a step in the background and prints its output; the script ends if it failed.
join() {
    local status=0
    wait "${background[$1]}" || status=$?
    unset "background[$1]"
    printf '\n== %s (ran beside other steps)\n' "$1"
    cat "$folder/$1.log"
    return "$status"
}

# Ends what still runs, prints the times, and says last how many tests passed, or that something failed.
finish() {
    local status=$? name
    for name in "${!background[@]}"; do
        kill -- "-${background[$name]}" 2>/dev/null || true
        wait "${background[$name]}" 2>/dev/null || true
    done
    set +m
    printf '\n%-44s %7s\n' step seconds
    awk -F '\t' '{ printf "%-44s %7d%s\n", $1, $2, $3 == 0 ? "" : "  FAILED" }' "$folder/times"
    printf '%-44s %7d\n' "all, beside one another where possible" "$SECONDS"
    [ "$status" -eq 0 ] || say "make test failed"
    clean_up
    exit "$status"
}

# What one package builds for its tests, and its tests. Root and server share the scratch folder.
compile() { swift build --scratch-path .build --disable-build-manifest-caching --build-tests "$@"; }
# The lock of the scratch folder is held by the compilation that goes on beside the tests.
run_tests() { swift test --scratch-path .build --skip-build --ignore-lock --disable-xctest "$@"; }

beside "lint" dev/lint.sh
beside "installation of schemathesis" dev/check-api.sh --install
step "compilation in debug, root" compile
beside "tests in debug, root" run_tests
step "compilation optimised, root" compile -c release
beside "tests optimised, root" run_tests -c release
step "compilation optimised, server" compile -c release --package-path Server
join "lint"
join "installation of schemathesis"
beside "description of the HTTP interface" dev/check-api.sh .build/release
join "tests in debug, root"
join "tests optimised, root"
step "tests optimised, server" run_tests -c release --package-path Server
join "description of the HTTP interface"
