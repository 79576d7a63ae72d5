#!/bin/sh
# Compares a database of 5 million purchases and 20 million orders with one of 10 thousand (Benchmarks/README.md).
#
#   dev/bench-large.sh [PURCHASES] [ORDERS]
#
# The databases are created once in the folder that ASSAY_BENCH_LARGE names (.bench-large), with progress on standard error. An
# interrupted run continues where it ended. Delete the folder afterwards.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

purchases=${1:-5000000}
orders=${2:-$((purchases * 4))}
folder=${ASSAY_BENCH_LARGE:-.bench-large}
# Measured: 1.4 kB for a purchase and 0.9 kB for an order; twice as much for the WAL and for growth.
needed=$(((purchases * 3 + orders * 2) / 1000 / 1000 + 1))
mkdir -p "$folder"
free=$(df -Pk "$folder" | awk 'NR == 2 { print int(($4) / 1000 / 1000) }')
[ "$free" -ge "$needed" ] || [ -e "$folder/large.sqlite" ] ||
    fail "$folder has $free GB free; $purchases purchases and $orders orders need up to $needed GB"

say "Building the benchmark"
build_product release Benchmarks large-database
"$(products_folder release)/large-database" "$folder" "$purchases" "$orders"
