#!/bin/sh
# Runs unmodified clients of other projects, from PyPI: inapppy and itunes-iap send verifyReceipt
# requests to the simulator and to the drop-in, Apple's app-store-server-library verifies signed payloads of every kind, calls
# every method of the App Store Server API against the simulator, and signs offers, which are compared with those of the server,
# standardwebhooks verifies deliveries, and http-message-signatures the signed answers to apps. openapi-python-client and
# openapi-generator-cli generate clients from openapi.yaml, in Python and in TypeScript, which buy something; the latter needs
# java, node and tsc.
#
#   dev/interop.sh [FOLDER OF THE PROGRAM]     .build/release if no folder is given
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

find_program "${1:-}"
clients="$PWD/dev/interop"
tools=$(python_tools interop inapppy itunes-iap 'app-store-server-library[async]' standardwebhooks http-message-signatures requests \
    openapi-python-client openapi-generator-cli) || fail "PyPI's clients cannot be installed"
make_temporary_folder interop
cd "$folder"

post() { curl -sSf -H 'Content-Type: application/json' --data "$2" "$address$1"; }
member() { python3 -c 'import json, sys; print(json.load(sys.stdin)["evidence"][sys.argv[1]])' "$1"; }

start_server simulate "$program" simulate --port 0 --environment-names apple
store="$address"
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
    member signed_transaction <bought >"$environment.jws"
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
"$tools/bin/python" "$clients/clients.py" "$address" production.b64 sandbox.b64 --signed production.jws sandbox.jws
echo "inapppy and itunes-iap over two simulated years: the drop-in beside the store"
ASSAY_BIN=$(dirname "$program") "$tools/bin/python" "$clients/../two_years.py" --drop-in --check >two-years || { cat two-years; exit 1; }
tail -1 two-years
echo "app-store-server-library, over signed payloads of the simulator"
"$tools/bin/python" "$clients/signed-data-verifier.py" assay-authority/signed-data/root.der <signed | tee verdicts
accepted=$(grep -c 'accepted' verdicts) || true
[ "$accepted" -eq 7 ] || fail "app-store-server-library accepts $accepted of 7 signed payloads"

echo "app-store-server-library, calling the simulator's App Store Server API over TLS"
start_server server-api "$program" simulate --port 0 --https-port 0 --environment-names apple \
    --allow-host api.storekit.apple.com --allow-host api.storekit-sandbox.apple.com
tries=0
until tls_port=$(sed -n 's|.*https://[^:]*:\([0-9]*\).*|\1|p' server-api.out | head -n 1) && [ -n "$tls_port" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || fail "the simulator has no HTTPS port: $(cat server-api.out)"
    sleep 0.1
done
"$tools/bin/python" "$clients/server_api.py" "$address" "$tls_port" assay-authority/https/root.pem \
    assay-authority/signed-data/root.der | tee called
accepted=$(grep -c 'accepted' called) || true
[ "$accepted" -eq 5 ] || fail "app-store-server-library accepts $accepted of 5 parts of the App Store Server API"

echo "standardwebhooks, over deliveries of the server"
secret="whsec_$(head -c 32 /dev/urandom | base64)"
"$tools/bin/python" "$clients/webhooks.py" "$secret" 3 port >events &
receiver=$!
servers="$servers $receiver"
tries=0
until [ -s port ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || fail "the receiver of webhooks did not start"
    sleep 0.1
done
cat >webhooks.yaml <<END
apps:
  game:
    bundle_ids: com.example.app
    webhooks:
      - { url: "http://127.0.0.1:$(cat port)/hook", secrets: [env:WEBHOOK_SECRET], allow_hosts: [127.0.0.1] }
END
export WEBHOOK_SECRET="$secret"
"$program" keys create --config webhooks.yaml --database sqlite:webhooks.sqlite --app game --scope admin >key 2>/dev/null
start_server webhooks "$program" serve --config webhooks.yaml --database sqlite:webhooks.sqlite --port 0
# A webhook begins with the events after the server first saw it.
tries=0
until grep -q 'this server delivers to the webhook' webhooks.errors; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || fail "the server does not deliver: $(cat webhooks.errors)"
    sleep 0.1
done
for customer in alice bob alice; do
    curl -sSf -o answer -H "Authorization: Bearer $(cat key)" -H "Idempotency-Key: $(od -An -N8 -tx8 /dev/urandom | tr -d ' ')" --data "{\"customer_id\":\"$customer\",\"product_id\":\"coins\"}" \
        "$address/v1/orders"
done
wait "$receiver" || fail "standardwebhooks did not accept the deliveries"
cat events
! grep -q "$secret" webhooks.errors webhooks.out || fail "a secret is in the log"
accepted=$(grep -c 'accepted' events) || true
[ "$accepted" -eq 3 ] || fail "standardwebhooks accepts $accepted of 3 deliveries"

echo "http-message-signatures, over answers to apps"
cat >answers.yaml <<END
server: { answer_key_file: answers.key }
apps:
  game:
    bundle_ids: com.example.app
    products: { coins: { kind: consumable } }
END
public_key=$("$program" keys signing --for answers --config answers.yaml 2>/dev/null | sed -n 's/^current //p')
"$program" keys create --config answers.yaml --database sqlite:answers.sqlite --app game --scope client >key 2>/dev/null
"$program" mint --kind signed-transaction --authority assay-authority --bundle-id com.example.app \
    --environment Production --purchase product=coins,kind=consumable,transaction=500000000000077 -o claim.jws
start_server answers "$program" serve --config answers.yaml --database sqlite:answers.sqlite --port 0 \
    --trust assay-authority/trust.pem --log-level error
"$tools/bin/python" "$clients/answers.py" "$address" "$(cat key)" "$public_key" claim.jws | tee answers
accepted=$(grep -c 'accepted' answers) || true
[ "$accepted" -eq 3 ] || fail "http-message-signatures accepts $accepted of 3 answers"

echo "app-store-server-library, signing the offers that the server signs"
answering="$address"
(umask 077 && "$tools/bin/python" -c '
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric import ec
print(ec.generate_private_key(ec.SECP256R1()).private_bytes(
    form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()).decode(), end="")' >AuthKey.p8)
cat >offers.yaml <<END
apps:
  game:
    bundle_ids: com.example.app
    products: { gold: { kind: auto_renewable }, coins: { kind: consumable } }
    app_store_keys:
      - { issuer_id: 57246542-96fe-1a63-e053-0824d011072a, key_id: 2X9R4HXF34, private_key_file: AuthKey.p8 }
    offers:
      promotional: { back: { products: [gold] } }
      introductory: {}
      advanced_commerce: {}
END
"$program" keys create --config offers.yaml --database sqlite:offers.sqlite --app game --scope backend >offers.key 2>/dev/null
start_server offers "$program" serve --config offers.yaml --database sqlite:offers.sqlite --port 0 --log-level error
"$tools/bin/python" "$clients/offer-signatures.py" "$address" "$(cat offers.key)" \
    57246542-96fe-1a63-e053-0824d011072a 2X9R4HXF34 AuthKey.p8 | tee offers
equal=$(grep -c 'equal$' offers) || true
[ "$equal" -eq 9 ] || fail "$equal of 9 offers are those of app-store-server-library"
address="$answering"

echo "clients that are generated from openapi.yaml, over the server and the simulator"
description="$clients/../../Server/Sources/PurchaseServer/Resources/openapi.yaml"
"$program" keys create --config answers.yaml --database sqlite:answers.sqlite --app game --scope admin >admin.key 2>/dev/null
"$tools/bin/openapi-python-client" generate --path "$description" --meta none --output-path python/assay_client >generated 2>&1 ||
    { cat generated; fail "openapi-python-client cannot read openapi.yaml"; }
! grep -E 'ERROR|/v1' generated || { cat generated; fail "openapi-python-client leaves operations out"; }
"$tools/bin/python" "$clients/generated_client.py" python "$address" "$(cat admin.key)" "$store" com.example.app
missing=""
has java || missing="$missing default-jre-headless"
has node || missing="$missing nodejs"
has tsc || missing="$missing node-typescript"
# shellcheck disable=SC2086
[ -z "$missing" ] || install_packages $missing || fail "the TypeScript client needs:$missing"
"$tools/bin/openapi-generator-cli" generate -i "$description" -g typescript-fetch -o typescript/client >generated 2>&1 ||
    { cat generated; fail "openapi-generator-cli cannot read openapi.yaml"; }
cp "$clients/generated_client.ts" typescript/
tsc --target es2020 --module commonjs --lib es2020,dom --outDir javascript typescript/generated_client.ts ||
    fail "the TypeScript client does not compile"
node javascript/generated_client.js "$address" "$(cat admin.key)" "$store" com.example.app
