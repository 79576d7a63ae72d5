#!/bin/sh
# Calls the API of the purchase server with curl, and prints each request and its answer as Markdown: the last section of
# docs/transcripts.md.
#
#   dev/transcript.sh [FOLDER OF THE PROGRAM] > SECTION
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
      coins: { kind: consumable }
SETTINGS
assay keys create --app game --scope client >client.key 2>/dev/null
assay keys create --app game --scope backend >backend.key 2>/dev/null
assay mint --kind signed-transaction --environment Production --purchase product=coins,transaction=500000000000001,quantity=3 -o coins.jws >/dev/null 2>&1
assay mint --kind signed-transaction --environment Production --purchase product=coins,transaction=500000000000003,quantity=3 -o more.jws >/dev/null 2>&1
assay mint --kind signed-transaction --environment Production --purchase product=coins,transaction=500000000000002 --fault own-leaf -o forged.jws >/dev/null 2>&1
start_server serve assay serve --port 0 --trust assay-authority/trust.pem --log-level error

# Prints and runs one request. The printed one names files instead of their content; of the answer, it prints the members that
# $only names, otherwise all.
only=
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
        sent=$(printf '%s' "$body" | sed "s/<coins.jws>/$(cat coins.jws)/; s/<more.jws>/$(cat more.jws)/; s/<forged.jws>/$(cat forged.jws)/")
        set -- "$@" -H 'Content-Type: application/json' -d "$sent"
    fi
    answer=$(curl "$@" "$address$path")
    printf '    $ %s\n' "$shown"
    printf '%s' "$answer" | python3 -c '
import json, sys, textwrap
text, status = sys.stdin.read().rsplit("\n", 1)
print("    HTTP", status)
value = json.loads(text)
value = {name: value[name] for name in sys.argv[1:] or value}
for name, each in value.items():
    if isinstance(each, list) and len(each) > 2: value[name] = each[:2] + [f"… and {len(each) - 2} more"]
print(textwrap.indent(json.dumps(value, indent=2, ensure_ascii=False), "    "))
' $only
    only=
    last=$answer
}
field() { printf '%s' "$last" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1; }

cat <<'HEAD'
## The API by hand

The requests that `dev/transcript.sh` sent to `assay serve`, and the answers. `$ASSAY` is the address of the server;
`<coins.jws>` and `<more.jws>` stand for signed transactions over three coins each, which `assay mint` made. Of answers
like an earlier one, only some members are shown.

HEAD
printf '    $ cat assay.yaml\n'
sed 's/^/    /' assay.yaml
step "The shop's backend creates an order:"
ask backend POST /v1/orders '{"customer_id":"alice","product_id":"coins","quantity":3}' 'Idempotency-Key: 4711'
order=$(field order_id)
step "After the purchase in the App Store, the app submits it for the order:"
purchase="{\"signed_transaction\":\"<coins.jws>\",\"product_id\":\"coins\",\"transaction_id\":\"500000000000001\",\"order_id\":\"$order\"}"
ask client POST /v1/purchases "$purchase"
step "The app received no answer and repeats the request. Nothing is granted twice:"
only="code disposition replayed"
ask client POST /v1/purchases "$purchase"
step "Another customer submits the same evidence:"
ask client POST /v1/purchases '{"signed_transaction":"<coins.jws>","product_id":"coins","transaction_id":"500000000000001","customer_id":"mallory"}'
step "A forged transaction, whose issuer did not sign its certificate:"
ask client POST /v1/purchases '{"signed_transaction":"<forged.jws>","product_id":"coins","transaction_id":"500000000000002","customer_id":"mallory"}'
step "The order is paid. The backend fulfils it, which takes the coins from the balance; only the first caller delivers:"
only="replayed status taken_units"
ask backend POST "/v1/orders/$order/fulfil"
only="replayed status"
ask backend POST "/v1/orders/$order/fulfil"
step "Coins that no order bought stay in the balance until the backend consumes them:"
only="code disposition entitlement"
ask client POST /v1/purchases '{"signed_transaction":"<more.jws>","product_id":"coins","transaction_id":"500000000000003","customer_id":"alice"}'
ask backend POST /v1/customers/alice/consume '{"product_id":"coins","quantity":2,"consumption_id":"match-7"}' 'Idempotency-Key: match-7'
only="balance replayed"
ask backend POST /v1/customers/alice/consume '{"product_id":"coins","quantity":2,"consumption_id":"match-7"}' 'Idempotency-Key: match-7'
ask backend GET /v1/customers/alice/entitlements
step "The record also contains refused submissions:"
ask backend GET '/v1/submissions?verdict=rejected&limit=1'
step "The events list all changes in order, and the cursor from which to continue:"
ask backend GET /v1/events
step "After the server has stopped, the tables are computed again from the journal and compared:"
stop_server
printf '    $ assay audit verify --trust assay-authority/trust.pem\n'
assay audit verify --trust assay-authority/trust.pem 2>/dev/null | sed 's/^/    /'
