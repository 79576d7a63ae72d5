#!/bin/sh
# Checks openapi.yaml against the running server: schemathesis (from PyPI) makes requests of every operation, and no
# answer may be a server error or one that the document does not describe.
#
# Takes the folder of the program to check; the optimised one, if not given.
set -eu
cd "$(dirname "$0")/.."
program="$PWD/${1:-.build/release}/assay"
[ -x "$program" ] || { echo "$program is not there; build it first" >&2; exit 1; }
tools=.build-api
if ! [ -x "$tools/bin/schemathesis" ]; then
    rm -rf "$tools"
    if ! { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet --disable-pip-version-check 'schemathesis>=4,<5'; }; then
        rm -rf "$tools"
        echo "skipped: schemathesis cannot be installed here (it needs python3 with venv, and PyPI)"
        exit 0
    fi
fi
schemathesis="$PWD/$tools/bin/schemathesis"
folder=$(mktemp -d)
server=""
clean_up() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap clean_up EXIT INT TERM
cd "$folder"
cat >assay.yaml <<'SETTINGS'
limits:
  per_key: { per_second: 100000, burst: 100000 }
  per_address: { per_second: 100000, burst: 100000 }
apps:
  game:
    bundle_ids: com.example.game
    products:
      coins: { type: consumable }
SETTINGS
"$program" keys create --app game --scope admin >key 2>/dev/null
"$program" serve --port 0 --log-level error >ready 2>errors &
server=$!
tries=0
until grep -q ready ready; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || { echo "the server did not start: $(cat errors)" >&2; exit 1; }
    sleep 0.1
done
address=$(sed -n 's/.*ready on //p' ready)
"$schemathesis" run "$address/openapi.yaml" --url "$address" --header "Authorization: Bearer $(cat key)" \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance \
    --max-examples "${ASSAY_API_EXAMPLES:-25}" --seed "${ASSAY_API_SEED:-1}" --no-color >report 2>&1 ||
    { cat report; exit 1; }
grep -E 'generated|Tested' report
kill "$server"
wait "$server"
server=""
