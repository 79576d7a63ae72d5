#!/bin/sh
# Goes through the API of the purchase server by curl, and writes what was sent and answered: docs/transcript.md.
#
#   dev/transcript.sh [FOLDER OF THE PROGRAM] > docs/transcript.md
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

find_program "${1:-}"
PATH="$(dirname "$program"):$PATH"
make_temporary_folder transcript
cd "$folder"

cat >assay.yaml <<'SETTINGS'
apps:
  game:
    bundle_ids: com.example.app
    products:
      coins: { type: consumable }
SETTINGS
assay keys create --app game --scope client >client.key 2>/dev/null
assay keys create --app game --scope backend >backend.key 2>/dev/null
assay mint --kind signed-transaction --purchase product=coins,transaction=2000000000000001,quantity=3 -o coins.jws >/dev/null 2>&1
assay mint --kind signed-transaction --purchase product=coins,transaction=2000000000000002 --fault wrong-root -o forged.jws >/dev/null 2>&1
start_server serve assay serve --port 0 --trust assay-authority/trust.pem --log-level error

# What is shown is what is run, with the names of files in place of what is in them.
step() { printf '\n%s\n\n' "$1"; }
ask() {
    key=$1 method=$2 path=$3 body=${4:-} header=${5:-}
    shown="curl -X $method \"\$ASSAY$path\""
    set -- -s -X "$method" -w '\n%{http_code}'
    if [ -n "$key" ]; then
        shown="$shown -H \"Authorization: Bearer \$(cat $key.key)\""
        set -- "$@" -H "Authorization: Bearer $(cat "$key.key")"
    fi
    if [ -n "$header" ]; then
        shown="$shown -H '$header'"
        set -- "$@" -H "$header"
    fi
    if [ -n "$body" ]; then
        shown="$shown -d '$body'"
        sent=$(printf '%s' "$body" | sed "s/<coins.jws>/$(cat coins.jws)/; s/<forged.jws>/$(cat forged.jws)/")
        set -- "$@" -H 'Content-Type: application/json' -d "$sent"
    fi
    answer=$(curl "$@" "$address$path")
    printf '    $ %s\n' "$shown"
    printf '%s' "$answer" | python3 -c '
import json, sys, textwrap
text, status = sys.stdin.read().rsplit("\n", 1)
print("    HTTP", status)
if text: print(textwrap.indent(json.dumps(json.loads(text), indent=2), "    "))
'
    last=$answer
}
field() { printf '%s' "$last" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1; }

cat <<'HEAD'
# The API by hand

What `dev/transcript.sh` sent to `assay serve` and got back. `$ASSAY` is the address of the server, `<coins.jws>` stands for signed
data that `assay mint` made: three coins.

HEAD
printf '    $ cat assay.yaml\n'
sed 's/^/    /' assay.yaml
step "An order, by the shop's backend:"
ask backend POST /v1/orders '{"customer_id":"alice","product_id":"coins","quantity":3}' 'Idempotency-Key: 4711'
order=$(field order_id)
step "The purchase for it, by the app, after the App Store sold it:"
purchase="{\"signed_transaction\":\"<coins.jws>\",\"product_id\":\"coins\",\"transaction_id\":\"2000000000000001\",\"order_id\":\"$order\"}"
ask client POST /v1/purchases "$purchase"
step "The same again, as an app that saw no answer would send it. Nothing is granted twice:"
ask client POST /v1/purchases "$purchase"
step "The same evidence for somebody else:"
ask client POST /v1/purchases '{"signed_transaction":"<coins.jws>","product_id":"coins","transaction_id":"2000000000000001","customer_id":"mallory"}'
step "A forged one, signed below a root of its own:"
ask client POST /v1/purchases '{"signed_transaction":"<forged.jws>","product_id":"coins","transaction_id":"2000000000000002","customer_id":"mallory"}'
step "Nothing to prove it:"
ask client POST /v1/purchases '{"product_id":"coins","transaction_id":"2000000000000002","customer_id":"mallory"}'
step "Without a key, and with one that may not:"
ask '' GET "/v1/orders/$order"
ask client GET "/v1/orders/$order"
step "The order is paid. The backend delivers it:"
ask backend POST "/v1/orders/$order/fulfil"
step "What the customer has, and how two coins are spent, once:"
ask backend GET /v1/customers/alice/entitlements
ask backend POST /v1/customers/alice/consume '{"product_id":"coins","quantity":2}' 'Idempotency-Key: 4712'
ask backend POST /v1/customers/alice/consume '{"product_id":"coins","quantity":2}' 'Idempotency-Key: 4712'
ask backend POST /v1/customers/alice/consume '{"product_id":"coins","quantity":2}' 'Idempotency-Key: 4713'
step "What was refused is in the record, too:"
ask backend GET '/v1/submissions?verdict=rejected&limit=2'
step "The server is told to stop; then the record is checked:"
stop_server
printf '    $ assay audit verify\n'
assay audit verify | sed 's/^/    /'
