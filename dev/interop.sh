#!/bin/sh
# Clients that others wrote, from PyPI and unmodified, against the simulator and the drop-in: inapppy and itunes-iap ask
# verifyReceipt, and Apple's own app-store-server-library verifies signed data of every kind.
#
# Takes the folder of the program; the optimised one, if not given.
set -eu
cd "$(dirname "$0")/.."
program="$PWD/${1:-.build/release}/assay"
[ -x "$program" ] || { echo "$program is not there; build it first" >&2; exit 1; }
clients="$PWD/dev/interop"
tools="$PWD/.build-interop"
if ! [ -x "$tools/ready" ]; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check inapppy itunes-iap app-store-server-library
    install -m 755 /dev/null "$tools/ready"
fi
folder=$(mktemp -d)
servers=""
clean_up() {
    for server in $servers; do kill "$server" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap clean_up EXIT INT TERM
cd "$folder"

start() {
    "$program" "$@" >ready 2>errors &
    servers="$servers $!"
    tries=0
    until grep -q 'http:' ready; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || { echo "it did not start: $(cat errors)" >&2; exit 1; }
        sleep 0.1
    done
    address=$(grep -o 'http://[0-9.:]*' ready)
}
post() { curl -sSf -H 'Content-Type: application/json' --data "$2" "$address$1"; }
member() { python3 -c 'import json, sys; print(json.load(sys.stdin)["evidence"][sys.argv[1]])' "$1"; }

start simulate --port 0 --environment-names apple
post /control/apps '{"bundle_id":"com.example.app"}' >shop
post /control/products '{"bundle_id":"com.example.app","product_id":"coins","kind":"consumable"}' >shop
post /control/products '{"bundle_id":"com.example.app","product_id":"gold","kind":"auto-renewable",
    "subscription":{"group_id":"club","period":"P1M"}}' >shop
for environment in production sandbox; do
    post /control/customers "{\"customer_id\":\"$environment\",\"environment\":\"$environment\"}" >shop
    post /control/purchases \
        "{\"bundle_id\":\"com.example.app\",\"product_id\":\"coins\",\"customer_id\":\"$environment\"}" >shop
    post /control/purchases \
        "{\"bundle_id\":\"com.example.app\",\"product_id\":\"gold\",\"customer_id\":\"$environment\"}" >bought
    member app_receipt <bought >"$environment.b64"
    for kind in signed_transaction signed_renewal_info app_transaction; do
        printf '%s\t%s\n' "$environment $kind" "$(member $kind <bought | tr -d '\n' | od -An -v -tx1 | tr -d ' \n')"
    done >>signed
done
number=$(curl -sSf "$address/control/events" | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"][-1]["number"])')
curl -sSf "$address/control/events/$number/notification" |
    python3 -c 'import json, sys; print("notification\t" + json.load(sys.stdin)["signed_payload"].encode().hex())' >>signed

echo "inapppy and itunes-iap, asking the simulator"
"$tools/bin/python" "$clients/clients.py" "$address" production.b64 sandbox.b64
start serve --port 0 --trust assay-authority/trust.pem --log-level error
echo "inapppy and itunes-iap, asking the drop-in"
"$tools/bin/python" "$clients/clients.py" "$address" production.b64 sandbox.b64
echo "app-store-server-library, over signed data of the simulator"
"$tools/bin/python" "$clients/signed-data-verifier.py" assay-authority/signed-data/root.der <signed | tee verdicts
[ "$(grep -c 'accepted' verdicts)" -eq 7 ] || { echo "it refuses some of them" >&2; exit 1; }
