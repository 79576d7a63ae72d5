#!/bin/sh
# Compares a database of 5 million purchases and 20 million orders with one of 10 thousand (Benchmarks/README.md).
#
#   dev/bench-large.sh [PURCHASES] [ORDERS]
#
# The databases are created once in the folder that ASSAY_BENCH_LARGE names (.bench-large), with progress on standard error. An
# interrupted run continues where it ended. Delete the folder afterwards.
#
# With ASSAY_BENCH_ENGINES=1 audits and a backup of the large one are timed, then both are copied to a PostgreSQL, and the same is
# measured there. That needs five times the space.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

purchases=${1:-5000000}
orders=${2:-$((purchases * 4))}
large=${ASSAY_BENCH_LARGE:-.bench-large}
# Measured: 1.4 kB for a purchase and 0.9 kB for an order; twice as much for the WAL and for growth.
needed=$(((purchases * 3 + orders * 2) / 1000 / 1000 + 1))
mkdir -p "$large"
free=$(df -Pk "$large" | awk 'NR == 2 { print int(($4) / 1000 / 1000) }')
[ "$free" -ge "$needed" ] || [ -e "$large/large.sqlite" ] ||
    fail "$large has $free GB free; $purchases purchases and $orders orders need up to $needed GB"

say "Building the benchmark"
build_product release Benchmarks large-database
"$(products_folder release)/large-database" "$large" "$purchases" "$orders"

[ -n "${ASSAY_BENCH_ENGINES:-}" ] || exit 0
make_temporary_folder bench-large
start_postgres fsync=on full_page_writes=on max_wal_size=4GB || exit 0
build_product release Server assay
assay=$(products_folder release)/assay
keys="--entry-key $large/assay-entries.key --signing-key $large/assay-log.key"
url="postgres:///%s?host=$postgres_folder&port=$postgres_port&user=assay"

# timed WHAT COMMAND… prints how long a command takes.
timed() {
    what=$1
    shift
    began=$(date +%s)
    "$@" >"$folder/output" 2>&1 || fail "$* failed: $(tail -n 5 "$folder/output")"
    echo "$what: $(($(date +%s) - began)) s"
}

# Audits and a backup of a database, around the comparison, which makes purchases.
audits() {
    set -- "$1" --database "$2"
    # shellcheck disable=SC2086
    set -- "$@" $keys
    name=$1
    shift
    timed "$name, the first audit" "$assay" audit verify "$@" --trust "$large/authority/trust.pem" --since "$folder/fold"
    "$(products_folder release)/large-database" "$large" "$purchases" "$orders"
    timed "$name, an audit since" "$assay" audit verify "$@" --trust "$large/authority/trust.pem" --since "$folder/fold"
    timed "$name, a backup" "$assay" database backup "$@" "$folder/backup.sqlite"
    rm -f "$folder"/fold* "$folder/backup.sqlite"
}

audits SQLite "sqlite:$large/large.sqlite"
for name in small large; do
    psql -q -h "$postgres_folder" -p "$postgres_port" -U assay -d postgres -c "CREATE DATABASE $name"
    # shellcheck disable=SC2086
    timed "a copy of the $name one" "$assay" database copy --from "sqlite:$large/$name.sqlite" \
        --to "$(echo "$url" | sed "s/%s/$name/")" $keys
done
ASSAY_LARGE_URL=$url
export ASSAY_LARGE_URL
audits PostgreSQL "$(echo "$url" | sed "s/%s/large/")"
