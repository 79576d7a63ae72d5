#!/bin/sh
# Fuzzes each reader of hostile bytes with libFuzzer, and fails on the first crash (Benchmarks/Torture/README.md).
#
#   dev/fuzz.sh                        all targets, 10 minutes together
#   dev/fuzz.sh 30                     all targets, 30 seconds each
#   dev/fuzz.sh 30 container date      these targets
#
# ASSAY_FUZZ_SECONDS is the time of each target if no number is given. ASSAY_CORPUS names the folder with real receipts. Keys and
# inputs that crashed are kept in .torture.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

all="container payload certificate text ber date propertyList signatureField transactionReceipt compactJWS claims json"
seconds=${1:-${ASSAY_FUZZ_SECONDS:-$((600 / $(echo "$all" | wc -w)))}}
[ $# -eq 0 ] || shift
targets=${*:-$all}
case $seconds in
    '' | *[!0-9]*) say "dev/fuzz.sh takes seconds for each target, not '$seconds'"; exit 2 ;;
esac

# libFuzzer comes with the toolchain; Xcode's leaves it out.
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
clang=$tools/clang
[ -x "$clang" ] || clang=$(command -v clang) || fail "The toolchain has no clang, so libFuzzer cannot be found."
library=$("$clang" --print-file-name="libclang_rt.fuzzer_no_main-$(uname -m).a")
[ -f "$library" ] ||
    fail "The toolchain has no libclang_rt.fuzzer_no_main-$(uname -m).a; a toolchain of swift.org for Linux has it."
make_temporary_folder fuzz

say "Building the fuzz targets, with address sanitizer and edge coverage"
# The options are named here and not in the manifest, so that the core is instrumented, too. Nothing that is built with them
# can be shared with other builds, so they have a scratch folder of their own.
scratch="$PWD/.build-fuzz"
ASSAY_BUILD_OPTIONS="-Xswiftc -sanitize=address \
    -Xswiftc -sanitize-coverage=edge,trace-cmp,inline-8bit-counters,pc-table \
    -Xlinker $library -Xlinker -lstdc++ ${ASSAY_BUILD_OPTIONS:-}"
build_product release Benchmarks fuzz
bin=$(products_folder release)
fuzz=$bin/fuzz
edges() { size -A "$@" | awk '$1 == "__sancov_cntrs" { sum += $2 } END { print sum + 0 }'; }
core=$(edges "$bin"/PurchaseVerification.build/*.o "$bin"/TextFormats.build/*.o)
[ "$core" -gt 1000 ] || fail "The core is not instrumented: $core edges."
echo "$core of $(edges "$fuzz") edges that guide the fuzzer are in the core."

# Inputs of a later run mean the same, because the keys are kept. Real receipts and what grows from them are not.
mkdir -p .torture/crashes
ASSAY_TORTURE_KEYS=$PWD/.torture/keys
export ASSAY_TORTURE_KEYS
# Leaks are the business of the system's allocator here; the stack of each allocation costs a third of the time.
export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16:malloc_context_size=0:handle_segv=0
# Swift's own crash reporter reads memory that the sanitizer guards.
export SWIFT_BACKTRACE=enable=no

# An input has at most 64 KiB; one allocation may take 32 times that, the process with sanitizer and corpus 512 MiB.
run() {
    target=$1
    shift
    mkdir -p "$folder/$target.seeds" "$folder/$target"
    "$fuzz" "$target" --seeds "$folder/$target.seeds"
    "$fuzz" "$target" -max_len=65536 -timeout=2 -rss_limit_mb=512 -malloc_limit_mb=2 -print_final_stats=1 \
        "$@" "$folder/$target" "$folder/$target.seeds" >"$folder/$target.log" 2>&1
}

# A target that fails on purpose must be seen to fail.
if run canary -runs=1000000 -artifact_prefix="$folder/"; then
    fail "The canary did not fail, so a crash would not be noticed."
fi

failed=""
printf '| target | seeds | executions | per second | coverage: edges, features | minutes | outcome |\n'
printf '|---|---:|---:|---:|---:|---:|---|\n'
for target in $targets; do
    outcome="no crash"
    run "$target" -max_total_time="$seconds" -artifact_prefix=".torture/crashes/$target-" || outcome="CRASH"
    awk -v target="$target" -v outcome="$outcome" -v seconds="$seconds" \
        -v seeds="$(find "$folder/$target.seeds" -type f | wc -l | tr -d ' ')" '
        / cov: / { for (field = 1; field < NF; field += 1) {
            if ($field == "cov:") edges = $(field + 1)
            if ($field == "ft:") features = $(field + 1)
        } }
        /stat::number_of_executed_units/ { executions = $2 }
        /stat::average_exec_per_sec/ { rate = $2 }
        END {
            minutes = rate > 0 ? executions / rate / 60 : 0
            printf "| %s | %d | %d | %d | %d, %d | %.1f | %s |\n",
                target, seeds, executions, rate, edges, features, minutes, outcome
        }' "$folder/$target.log"
    if [ "$outcome" = CRASH ]; then
        failed="$failed $target"
        grep -aE 'VIOLATED|ERROR|Fatal|Test unit written' "$folder/$target.log" | cut -c1-500 >&2 || true
        say "To see it again: ASSAY_TORTURE_KEYS=.torture/keys SWIFT_BACKTRACE=enable=no $fuzz $target FILE"
    fi
done
[ -z "$failed" ] || fail "Crashed:$failed. The inputs are in .torture/crashes."
echo "No crash."
