#!/bin/sh
# Flips every bit of evidence, measures the cost of hostile evidence for the core and the server, compares verdicts with OpenSSL
# and Apple's library for Python, and compares the ledger with the store (Benchmarks/Torture/README.md). The exit status is 0 only if
# all checks pass.
#
#   dev/torture.sh                        all parts
#   dev/torture.sh bits history           parts of the core: bits, history, cost, growth, opinion, receipts, jws
#   dev/torture.sh server                 the server: cost per byte of each route, /healthz under attack
#   dev/torture.sh store                  the ledger against the simulated store: 20 random histories of 1,000 steps
#   dev/torture.sh news [COUNT]           random histories of the store, told by notifications alone: shuffled, repeated and late, on both
#                                         engines, 1,000 by default
#   dev/torture.sh faults                 each fault of the App Store Server API in every place where the server asks it
#   dev/torture.sh backfill [COUNT]       random histories of the store of whose notifications a server loses three in ten and reads them
#                                         from the App Store Server API, 1,000 by default
#   dev/torture.sh numbers                imports of 1,000 numbers at Apple's limits, and of 100,000 with raised ones, killed and run again
#   dev/torture.sh histories [COUNT]      the ledger: random histories in other orders of arrival, 10,000 by default, the laws of
#                                         merging facts, rebuilds after random acts, and proofs of every size of a tree up to 300
#   dev/torture.sh mutations [COUNT]      the pure rules: changes of the seeds 33, 34 and 35, 40 of each by default, and a test that fails for
#                                         each of them
#   dev/torture.sh erasures [COUNT]       the ledger: erasures of anybody at any point of random histories, audits and rebuilds on every
#                                         engine, 200 histories by default
#   dev/torture.sh worlds [MINUTES]       the pure rules: every history of up to 4 events, each repeated once, of 5, and of 6 as far as
#                                         the minutes go, 20 by default; on a ledger: of 2 events, and of 3 in as many minutes
#   dev/torture.sh engines                the ledger's tests, each on both engines
#   dev/torture.sh role                   the ledger's tests under a PostgreSQL role that does not own the tables
#   dev/torture.sh order                  the audit: the numbers of two entries exchanged, for every pair of kinds, and 1,000 rounds of kills while entries are sealed
#   dev/torture.sh tables                 the audit: one row of each table changed, added and removed by plain SQL
#   dev/torture.sh postgres [CLAIMS]      32 clients in one and in three processes with the same claims, 1,000 by default
#   dev/torture.sh kill [ROUNDS]          the server: kill -9 under load, 100 rounds by default
#   dev/torture.sh servers [ROUNDS]       three servers over one PostgreSQL: kill -9 of servers and of PostgreSQL under load, 100 rounds
#                                         by default
#   dev/torture.sh news-servers [ROUNDS]  the same while notifications arrive, 100 rounds by default
#   dev/torture.sh soak [MINUTES]         the server: memory and WAL under load, 10 minutes by default
#   dev/torture.sh abuse [MINUTES]        the server: eight kinds of abuse at once beside honest purchases, 5 minutes by default
#   dev/torture.sh benchmarks             the benchmarks: all are compiled, and those of the ledger run once with few purchases
#   dev/torture.sh debug                  all tests in debug, with the assertions of Swift and of SwiftNIO
#   dev/torture.sh opinion --seed 7 --mutations 20000
#
# ASSAY_CORPUS names the folder with real receipts, ASSAY_PYTHON a Python with app-store-server-library, ASSAY_PROGRAM an
# assay that is already built.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

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

# All tests with assertions: `make test` runs them in the build that ships, which has none.
debug() { make test-debug; }

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
    status=0
    place=$(dev/throwaway-postgres.sh $$) || status=$?
    # 3: it is not installed.
    if [ "$status" -ne 3 ]; then
        [ "$status" -eq 0 ] || fail "PostgreSQL does not start"
        "$bin/ledger-benchmark" --postgresql "$(printf '%s\n' "$place" | sed -n 1p)" "$(printf '%s\n' "$place" | sed -n 2p)" 2000 1
    fi
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

# Compares the ledger with the store, while evidence is lost, repeated and delayed. The ordinary tests have four histories.
store() {
    say "Building the tests of the server"
    swift build -c release --package-path Server --scratch-path "$scratch" --disable-build-manifest-caching --build-tests
    say "Comparing the ledger with the store"
    ASSAY_STORE_HISTORIES=${ASSAY_STORE_HISTORIES:-20} swift test -c release --package-path Server \
        --scratch-path "$scratch" --disable-build-manifest-caching --skip-build --disable-xctest --filter StoreHistoryTests
}

# Compares the ledger with the pure rules after each notification, and with the store in the end.
news() {
    ASSAY_NEWS_HISTORIES="${1:-1000}" suite NotificationHistoryTests
}

# What each fault of the App Store does in every place where the server asks it.
faults() {
    ASSAY_PLACE_FAULTS=1 suite PlaceFaultTests
}

# Compares a server that reads lost notifications from Apple with one that got all.
#
# A history mostly waits for its servers, so eight processes share them.
backfill() {
    say "Building the ledger's tests"
    # shellcheck disable=SC2086
    swift build -c release --package-path Server --scratch-path "$scratch" --disable-build-manifest-caching \
        --build-tests ${ASSAY_BUILD_OPTIONS:-}
    make_temporary_folder backfill
    each=$(((${1:-1000} + 7) / 8)) place=0 processes="" failed=0
    while [ "$place" -lt 8 ]; do
        ASSAY_BACKFILL_FIRST=$((place * each + 1)) ASSAY_BACKFILL_HISTORIES=$each \
            "$(products_folder release)/assay-serverPackageTests.xctest" --testing-library swift-testing \
            --filter BackfillEqualityTests >"$folder/$place.log" 2>&1 &
        processes="$processes $!"
        place=$((place + 1))
    done
    for process in $processes; do wait "$process" || failed=1; done
    grep -h -A 3 'recorded an issue' "$folder"/*.log | cut -c -600 || true
    grep -h 'Test run with' "$folder"/*.log
    [ "$failed" -eq 0 ]
}

# Facts, owners and entitlements must not depend on when evidence arrived, through real operations on SQLite.
histories() {
    say "Building the ledger's tests"
    # shellcheck disable=SC2086
    swift build -c release --package-path Server --scratch-path "$scratch" --disable-build-manifest-caching \
        --build-tests ${ASSAY_BUILD_OPTIONS:-}
    ASSAY_HISTORIES="${1:-10000}" ASSAY_RANDOM_HISTORIES="${1:-10000}" ASSAY_MERGE_ROUNDS="$((2 * ${1:-10000}))" \
        ASSAY_REBUILD_SEEDS=20 ASSAY_TREE_SIZES=all "$(products_folder release)/assay-serverPackageTests.xctest" \
        --testing-library swift-testing --filter 'ArrivalTests|RandomHistoryTests|FactsMergeTests|RebuildTests|MerkleTreeTests'
}

# A test must notice each change of the rules. The three runs compile the dependencies once.
mutations() {
    for seed in 33 34 35; do
        say "Changing the rules, with the seed $seed"
        python3 dev/mutate.py --seed "$seed" --count "${1:-40}"
    done
}

# An audit rings for no honest ledger after erasures, before and after a rebuild, on SQLite and PostgreSQL.
erasures() {
    ASSAY_ERASURE_HISTORIES="${1:-200}" suite ErasureHistoryTests
}

# The pure rules of the ledger and a second implementation of docs/ledger.md decide every history of a few events.
worlds() {
    ASSAY_WORLD_EVENTS=4 ASSAY_WORLD_DUPLICATES=4 suite SmallWorldTests
    ASSAY_WORLD_EVENTS=5 ASSAY_WORLD_DUPLICATES=0 suite SmallWorldTests.worlds
    ASSAY_WORLD_EVENTS=6 ASSAY_WORLD_DUPLICATES=0 ASSAY_WORLD_MINUTES="${1:-20}" suite SmallWorldTests.worlds
    ASSAY_LEDGER_WORLD_EVENTS=2 suite SmallLedgerTests.worlds
    ASSAY_LEDGER_WORLD_EVENTS=3 ASSAY_LEDGER_WORLD_MINUTES="${1:-20}" suite SmallLedgerTests.worlds
}

# The behaviour of the ledger with the rights that docs/postgresql.md gives to a server.
role() {
    ASSAY_TEST_ENGINES=postgresql-server-role suite PurchaseLedgerTests
}

# All tests of the ledger on both engines; make test runs most of them on one.
engines() {
    ASSAY_TEST_ENGINES=sqlite,postgresql suite PurchaseLedgerTests
}

# Runs one suite of the optimised tests of the server.
suite() {
    say "Building the ledger's tests"
    # shellcheck disable=SC2086
    swift build -c release --package-path Server --scratch-path "$scratch" --disable-build-manifest-caching \
        --build-tests ${ASSAY_BUILD_OPTIONS:-}
    "$(products_folder release)/assay-serverPackageTests.xctest" --testing-library swift-testing --filter "$1"
}

case ${1:-} in
    '') debug; benchmarks; core; load cost; load attack; store; news; faults; backfill; load numbers; histories; erasures; worlds; mutations; engines; role; ASSAY_FUZZ_ROWS=all suite SwappedEntriesTests; ASSAY_KILL_ROUNDS=1000 suite 'SealingOrderTests|SealingTests'; ASSAY_FUZZ_ROWS=one suite TableFuzzTests
        ASSAY_SHARED_CLAIMS=1000 suite 'threeProcesses|sameClaims'; load reports; load kill; load servers; load news-servers; load soak; load abuse ;;
    debug) debug ;;
    benchmarks) benchmarks ;;
    engines) engines ;;
    role) role ;;
    order) ASSAY_FUZZ_ROWS=all suite SwappedEntriesTests; ASSAY_KILL_ROUNDS=1000 suite 'SealingOrderTests|SealingTests' ;;
    tables) ASSAY_FUZZ_ROWS=${ASSAY_FUZZ_ROWS:-one} suite TableFuzzTests ;;
    postgres) ASSAY_SHARED_CLAIMS="${2:-1000}" suite 'threeProcesses|sameClaims' ;;
    kill | servers | news-servers) load "$1" --rounds "${2:-100}" ;;
    soak) load soak --minutes "${2:-10}" ;;
    abuse) load abuse --minutes "${2:-5}" ;;
    server) load cost; load attack ;;
    numbers) load numbers ;;
    store) store ;;
    news) news "${2:-}" ;;
    faults) faults ;;
    backfill) backfill "${2:-}" ;;
    histories) histories "${2:-}" ;;
    erasures) erasures "${2:-}" ;;
    worlds) worlds "${2:-}" ;;
    mutations) mutations "${2:-}" ;;
    *) core "$@" ;;
esac
