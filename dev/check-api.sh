#!/bin/sh
# Checks the description of the HTTP interface against the running server: schemathesis (from PyPI) makes requests of every
# operation, and no answer may be a server error or one that the description does not allow.
#
#   dev/check-api.sh [FOLDER OF THE PROGRAM]     .build/release if no folder is given
#   dev/check-api.sh --install                   installs schemathesis and ends
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

if ! tools=$(python_tools api 'schemathesis>=4,<5'); then
    # CI must not pass without this check.
    [ -z "${CI:-}" ] || fail "schemathesis cannot be installed; it needs python3 with venv, and PyPI"
    say "skipped: schemathesis cannot be installed here (it needs python3 with venv, and PyPI)"
    exit 0
fi
[ "${1:-}" != --install ] || exit 0
find_program "${1:-}"
make_temporary_folder api
cd "$folder"

cat >assay.yaml <<'SETTINGS'
limits:
  per_key: { per_second: 100000, burst: 100000 }
  per_address: { per_second: 100000, burst: 100000 }
apps:
  game:
    bundle_ids: com.example.game
    products:
      coins: { kind: consumable }
SETTINGS
"$program" keys create --app game --scope admin >key 2>/dev/null
start_server serve "$program" serve --port 0 --log-level error
# A stream has no end to wait for.
"$tools/bin/schemathesis" run "$address/openapi.yaml" --url "$address" --header "Authorization: Bearer $(cat key)" \
    --exclude-path /v1/events/stream --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance \
    --max-examples "${ASSAY_API_EXAMPLES:-25}" --seed "${ASSAY_API_SEED:-1}" --no-color >report 2>&1 ||
    { cat report; exit 1; }
grep -E 'generated|Tested' report || { cat report; fail "schemathesis does not say what it tested"; }
stop_server
