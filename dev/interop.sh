#!/bin/sh
# Runs unmodified clients of other projects, from PyPI: inapppy and itunes-iap send verifyReceipt
# requests to the simulator and to the drop-in, and Apple's app-store-server-library verifies signed payloads of every kind.
#
#   dev/interop.sh [FOLDER OF THE PROGRAM]     .build/release if no folder is given
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

find_program "${1:-}"
clients="$PWD/dev/interop"
tools=$(python_tools interop inapppy itunes-iap app-store-server-library) || fail "PyPI's clients cannot be installed"
make_temporary_folder interop
cd "$folder"

post() { curl -sSf -H 'Content-Type: application/json' --data "$2" "$address$1"; }
member() { python3 -c 'import json, sys; print(json.load(sys.stdin)["evidence"][sys.argv[1]])' "$1"; }

start_server simulate "$program" simulate --port 0 --environment-names apple
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
start_server serve "$program" serve --port 0 --trust assay-authority/trust.pem --log-level error
echo "inapppy and itunes-iap, asking the drop-in"
"$tools/bin/python" "$clients/clients.py" "$address" production.b64 sandbox.b64
echo "app-store-server-library, over signed payloads of the simulator"
"$tools/bin/python" "$clients/signed-data-verifier.py" assay-authority/signed-data/root.der <signed | tee verdicts
accepted=$(grep -c 'accepted' verdicts) || true
[ "$accepted" -eq 7 ] || fail "app-store-server-library accepts $accepted of 7 signed payloads"
