#!/bin/sh
# The main job on made-up receipts: mint, verify, ask the drop-in; genuine and forged side by side.
# It ends by itself, with exit status 0 only if every step went as told.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.build/release:$PATH"
folder=$(mktemp -d)
server=""
clean_up() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap clean_up EXIT INT TERM
cd "$folder"

say() { printf '\n== %s\n' "$1"; }
run() { printf '$ %s\n' "$*"; }
fail() { printf '\nThis went otherwise than told: %s\n' "$1" >&2; exit 1; }

say "An authority of our own signs receipts, as Apple's does"
run assay mint --purchase product=com.example.coins,quantity=3 -o genuine.b64
assay mint --kind production --created 2026-01-31T12:00:00Z -o genuine.b64 \
    --purchase product=com.example.coins,quantity=3,transaction=700000000000001 \
    --purchase product=com.example.pro,kind=subscription,transaction=700000000000002,expires=2026-02-28T12:00:00Z
faults="flipped-payload-byte wrong-root missing-leaf-marker developer-certificate expired-leaf truncated"
for fault in $faults; do
    assay mint --kind production --purchase product=com.example.coins --fault "$fault" -o "$fault.b64"
done
echo "made: genuine.b64, and one forged receipt each of: $faults"

say "Apple's roots do not know this authority, so nothing passes by itself"
run assay verify genuine.b64
assay verify genuine.b64 && fail "a stranger's receipt was accepted"

say "With the authority trusted, the genuine receipt verifies"
run assay verify --trust assay-authority/root.pem --bundle-id com.example.app genuine.b64
assay verify --trust assay-authority/root.pem --bundle-id com.example.app genuine.b64 || fail "it was refused"

say "And each forged one is refused, by the rule that it breaks"
# shellcheck disable=SC2086
set -- $(for fault in $faults; do echo "$fault.b64"; done)
run assay verify --trust assay-authority/root.pem "$@"
assay verify --trust assay-authority/root.pem "$@" && fail "a forged receipt was accepted"
for file in "$@"; do
    assay verify --trust assay-authority/root.pem "$file" >/dev/null && fail "$file was accepted"
done

say "The drop-in answers verifyReceipt as Apple does"
run assay serve --port 0 --trust assay-authority/root.pem
assay serve --port 0 --trust assay-authority/root.pem --log-level warning >ready.txt 2>server.log &
server=$!
tries=0
until grep -q ready ready.txt; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || fail "the server did not start: $(cat server.log)"
    sleep 0.1
done
url=$(sed -n 's/.*ready on //p' ready.txt)
cat ready.txt

ask() { # ask FILE ROUTE: posts a receipt and prints the answer
    printf '{"receipt-data":"%s"}' "$(cat "$1")" >request.json
    curl -sS -D headers.txt -o answer.json --data-binary @request.json "$url$2"
}
check() { # check FILE ROUTE STATUS
    ask "$1" "$2"
    reason=$(sed -n 's/^[Aa]ssay-[Rr]eason: \([a-z0-9_]*\).*/\1/p' headers.txt)
    printf '  %-28s %-24s status %s %s\n' "$1" "$2" "$3" "${reason:+($reason)}"
    grep -q "\"status\":$3}" answer.json || fail "$1 at $2 was answered $(head -c 300 answer.json)"
}
run "curl --data '{\"receipt-data\":\"...\"}' $url/verifyReceipt"
ask genuine.b64 /verifyReceipt
head -c 600 answer.json
printf ' ...\n\n'
check genuine.b64 /verifyReceipt 0
check genuine.b64 /sandbox/verifyReceipt 21008
for fault in $faults; do
    if [ "$fault" = truncated ]; then status=21002; else status=21003; fi
    check "$fault.b64" /verifyReceipt "$status"
done

say "It stops when it is told to"
kill -TERM "$server"
wait "$server" || fail "the server ended with status $?"
server=""
echo "stopped."
printf '\nEvery step went as told.\n'
