#!/bin/sh
# Measures Assay beside its lower bounds, OpenSSL and an echo server, and prints Markdown (Benchmarks/README.md).
#
#   dev/bench.sh [PART…]     parts of the table below, or all
#
# ASSAY_PROGRAM names an assay that is built already; ASSAY_CORPUS the folder with real receipts.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

# The part, and what it measures.
table() {
    cat <<'END'
receipts       one verification: times, growth, allocations
instructions   one verification: instructions, by callgrind
programs       assay verify, assay serve, and their start
ledger         durable purchases beside the database's bare loop
units          purchases, renewals, answers and audits of a server, in verifications of P-256 by OpenSSL
notifications  notifications of the App Store beside forged ones, and realtime requests
webhooks       deliveries of events beside purchases
postgresql     the ledger with PostgreSQL, on one customer, and with 2 ms more for each round trip
merge          how long claims wait while a customer with 50,000 originals is merged
END
}

parts=${*:-$(table | awk '{ print $1 }')}
for part in $parts; do
    table | grep -q "^$part  *" || { say "dev/bench.sh has no part '$part':"; table >&2; exit 2; }
done
wants() { echo "$parts" | tr ' ' '\n' | grep -qx "$1"; }
make_temporary_folder bench

# Ratios of one thread at a time hold on a busy machine; figures of programs that use all cores do not.
if [ -r /proc/loadavg ]; then
    awk -v cores="$(getconf _NPROCESSORS_ONLN)" '$1 > cores / 4 {
        print "The load is " $1 " on " cores " cores: figures of whole programs will be wrong."
    }' /proc/loadavg >&2
fi

if ! has_openssl_headers; then
    say "libssl-dev or pkg-config is missing; skipping OpenSSL."
    export ASSAY_OPENSSL=0
fi
missing=""
if wants instructions; then has valgrind || missing="$missing valgrind"; fi
if wants programs; then
    has wrk || missing="$missing wrk"
    has curl || missing="$missing curl"
fi
# A part whose tool cannot be installed prints a message.
# shellcheck disable=SC2086
[ -z "$missing" ] || install_packages $missing || true

say "Building the benchmarks"
build_product release Benchmarks receipt-benchmark
bin=$(products_folder release)
benchmark=$bin/receipt-benchmark
# All parts measure the same receipts, even if they are minted.
"$benchmark" --export "$folder/receipts"
trust=""
[ ! -f "$folder/receipts/root.der" ] || trust="--trust $folder/receipts/root.der"

# Builds programs of the benchmarks, or assay, and says so.
build() {
    for product; do
        say "Building $product"
        package=Benchmarks
        [ "$product" != assay ] || package=Server
        build_product release "$package" "$product"
    done
}

receipts_part() {
    say "Measuring one verification"
    "$benchmark" --receipts "$folder/receipts"
}

# Instructions of one run: the difference between 60 and 10 runs, divided by 50, so that the start does not count.
instructions_of() {
    for count in 10 60; do
        SWIFT_DETERMINISTIC_HASHING=1 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
            "$folder/stripped" --receipts "$folder/receipts" --callgrind "$1" "$count" 2>&1 |
            awk '/Collected :/ { print $NF }'
    done | awk 'NR == 1 { first = $1 } NR == 2 { printf "%.1f\n", ($1 - first) / 50 / 1000 }'
}

instructions_part() {
    has valgrind || { say "valgrind is missing; skipping the instruction counts."; return 0; }
    say "Counting instructions"
    # valgrind cannot read the debug information of Swift 6.
    cp "$benchmark" "$folder/stripped"
    strip -g "$folder/stripped"
    printf '\n## Instructions of one verification, in thousands, by callgrind\n\n'
    printf '| contender | instructions | ratio to its floor | ratio to Assay hot |\n|---|---:|---:|---:|\n'
    "$benchmark" --receipts "$folder/receipts" --list | while read -r name; do
        count=$(instructions_of "$name")
        [ -n "$count" ] || { say "callgrind failed on $name"; exit 1; }
        echo "$name $count"
    done >"$folder/instructions"
    awk '
        # The first row of each evidence is its floor.
        { split($1, part, "/"); value[$1] = $2; order[NR] = $1; receipt[$1] = part[1] }
        !(part[1] in floor) { floor[part[1]] = $2 }
        END {
            for (row = 1; row <= NR; row += 1) {
                name = order[row]
                printf "| %s | %.1f | %.2f | %.2f |\n", name, value[name],
                    value[name] / floor[receipt[name]], value[name] / value[receipt[name] "/assay-hot"]
            }
        }' "$folder/instructions"
}

stream_part() {
    count=100000
    say "Verifying a stream of $count receipts"
    "$benchmark" --stream "$folder/stream" "$count" <"$folder/receipts/small.b64"
    # With one job the program still reads while it verifies, so one job is not the same as one core.
    one_core=""
    if has taskset; then one_core="taskset -c 0"; fi
    # shellcheck disable=SC2086
    times=$("$benchmark" --processes 3 \
        -- $one_core "$assay" verify --json --jobs 1 $trust "$folder/stream" \
        -- "$assay" verify --json --jobs 1 $trust "$folder/stream" \
        -- "$assay" verify --json --jobs 2 $trust "$folder/stream")
    rm -f "$folder/stream"
    # shellcheck disable=SC2086
    set -- $times
    printf '\n## `assay verify --json`, %s receipts as one stream\n\n' "$count"
    printf '| | receipts per second | ratio to one core |\n|---|---:|---:|\n'
    awk -v core="$1" -v one="$2" -v two="$3" -v count="$count" -v pinned="$one_core" 'BEGIN {
        rate = "%.0f | %.2f |\n"
        printf "| 1 job, %s | " rate, pinned ? "one core" : "not pinned", count / core * 1000, 1
        printf "| 1 job, all cores | " rate, count / one * 1000, core / one
        printf "| 2 jobs, all cores | " rate, count / two * 1000, core / two
    }'
}

# Clock ticks of processor time that the server has used.
ticks() { if [ -r "/proc/$server/stat" ]; then awk '{ print $14 + $15 }' "/proc/$server/stat"; else echo 0; fi; }

# Requests per second, median and 99th percentile of the latency, microseconds of the server's processor time per request.
load() {
    before=$(ticks)
    wrk -t1 -c32 -d5s --latency -s "$folder/post.lua" "$1" >"$folder/wrk"
    after=$(ticks)
    if grep -E 'Non-2xx|Socket errors' "$folder/wrk" >&2; then exit 1; fi
    awk -v ticks=$((after - before)) -v second="$(getconf CLK_TCK)" '
        / 50%/ { half = $2 } / 99%/ { most = $2 } / requests in / { count = $1 } /Requests\/sec/ { rate = $2 }
        END { print rate, half, most, ticks / second / count * 1000000 }' "$folder/wrk"
}

# The middle one of the rounds, by requests per second.
middle() { sort -n "$1" | awk '{ line[NR] = $0 } END { print line[int((NR + 1) / 2)] }'; }

server_part() {
    { has wrk && has curl; } || { say "wrk or curl is missing; skipping the server."; return 0; }
    build echo-server
    echo_server=$bin/echo-server
    "$benchmark" --stream "$folder/request.json" 1 <"$folder/receipts/small.b64"
    cat >"$folder/post.lua" <<END
local file = io.open("$folder/request.json", "rb")
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = "application/json"
file:close()
END
    # The keys of the record are made beside the settings.
    echo 'server: { host: 127.0.0.1 }' >"$folder/server.yaml"
    say "Measuring the servers"
    for round in 1 2 3 4 5; do
        # shellcheck disable=SC2086
        start_server assay "$assay" serve --config "$folder/server.yaml" --database "sqlite:$folder/books.sqlite" --port 0 \
            --log-level warning $trust
        door=$address/verifyReceipt
        if ! curl -s --data-binary "@$folder/request.json" "$door" | grep -q '"status":0'; then
            door=$address/sandbox/verifyReceipt
            curl -s --data-binary "@$folder/request.json" "$door" | grep -q '"status":0' ||
                    fail "The server does not verify the receipt."
        fi
        load "$door" >>"$folder/assay.loads"
        stop_server || true
        start_server echo "$echo_server"
        load "$address/echo" >>"$folder/echo.loads"
        load "$address/json" >>"$folder/json.loads"
        stop_server || true
        start_server bare "$echo_server" --bare
        load "$address/echo" >>"$folder/bare.loads"
        stop_server || true
    done
    printf '\n## `/verifyReceipt` on loopback, 32 connections, %s-byte body, median of %s rounds\n\n' \
        "$(wc -c <"$folder/request.json" | tr -d ' ')" "$round"
    printf '| endpoint | requests per second | ratio to echo | p50 | p99 | server CPU, µs a request |\n'
    printf '|---|---:|---:|---:|---:|---:|\n'
    echo=$(middle "$folder/echo.loads")
    for row in "assay:verifyReceipt" "echo:echo in the same server" "json:echo in the same server, JSON read and written" "bare:echo in a bare server"; do
        # shellcheck disable=SC2046
        set -- $(middle "$folder/${row%%:*}.loads")
        awk -v name="${row#*:}" -v rate="$1" -v echo="${echo%% *}" -v half="$2" -v most="$3" -v cpu="$4" 'BEGIN {
            printf "| %s | %.0f | %.2f | %s | %s | %.0f |\n", name, rate, rate / echo, half, most, cpu
        }'
    done
}

start_part() {
    build foundation-hello
    say "Starting programs"
    # shellcheck disable=SC2086
    times=$("$benchmark" --processes 21 \
        -- "$bin/foundation-hello" -- "$assay" verify $trust "$folder/receipts/small.b64")
    # shellcheck disable=SC2086
    set -- $times
    printf '\n## From process start to the first verdict, median of 21\n\n'
    printf '| program | ms | ms more than hello |\n|---|---:|---:|\n'
    awk -v hello="$1" -v verify="$2" 'BEGIN {
        printf "| Foundation hello world | %.1f | |\n", hello
        printf "| `assay verify`, one receipt | %.1f | %.1f |\n", verify, verify - hello
    }'
}

# The program that is measured.
find_assay() {
    assay=${ASSAY_PROGRAM:-$bin/assay}
    [ -n "${ASSAY_PROGRAM:-}" ] || build assay
}

programs_part() {
    find_assay
    stream_part
    server_part
    start_part
}

ledger_part() {
    build ledger-benchmark reference-loop
    say "Buying"
    printf '\n## Durable purchases: verified, decided, granted, recorded with their evidence, and flushed\n\n'
    echo "The reference loop: $("$bin/reference-loop" | awk '{ print $1 " µs of processor time a purchase, " $2 " a second, " $3 " pages" }')"
    "$bin/ledger-benchmark"
}

webhooks_part() {
    build webhook-benchmark
    say "Delivering"
    printf '\n## Deliveries to a webhook, beside purchases at half of their greatest rate\n\n'
    "$bin/webhook-benchmark"
}

# Commits are flushed to the disk, as by default.
durable="fsync=on full_page_writes=on max_wal_size=4GB"

postgresql_part() {
    build ledger-benchmark
    # shellcheck disable=SC2086
    start_postgres $durable || return 0
    say "Buying with PostgreSQL"
    printf '\n## Durable purchases with PostgreSQL\n\n'
    "$bin/ledger-benchmark" --postgresql "$postgres_folder" "$postgres_port" "${ASSAY_BENCH_PURCHASES:-20000}" "${ASSAY_BENCH_ROUNDS:-5}"
}

merge_part() {
    build ledger-benchmark
    say "Merging"
    printf '\n## Claims during a merge of customers\n\n'
    set -- --merge "${ASSAY_BENCH_ORIGINALS:-50000}"
    # shellcheck disable=SC2086
    if start_postgres $durable; then set -- "$@" "$postgres_folder" "$postgres_port"; fi
    "$bin/ledger-benchmark" "$@"
}

# Scenarios of dev/load.py.
load_part() {
    find_assay
    printf '\n## %s\n\n' "$2"
    dev/load.py "$1" "$assay"
}

units_part() {
    build reference-loop
    load_part units "What things cost, in verifications of P-256"
}

notifications_part() {
    load_part flood "Notifications beside forgeries"
    load_part realtime "Realtime requests of the Retention Messaging API"
}

# Every table stands between two measurements of the unit that all share.
for part in $parts; do
    printf '\n'
    dev/load.py unit
    "${part}_part"
    printf '\n'
    dev/load.py unit
done
