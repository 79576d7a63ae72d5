#!/bin/sh
# itunes-iap 2.6.1: last_in_app is sorted by original_purchase_date_ms, which all periods of a subscription share (Apple,
# "original_purchase_date_ms"), so with the newest period first, as in latest_receipt_info, it is the first period. A response has
# no attribute environment, though verifyReceipt answers with one.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install itunes-iap==2.6.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from itunesiap.receipt import Response

def period(number):
    return {"quantity": "1", "product_id": "gold", "transaction_id": str(number), "original_transaction_id": "1",
            "original_purchase_date_ms": "1700000000000", "purchase_date_ms": str(1700000000000 + (number - 1) * 2592000000)}
response = Response({"status": 0, "environment": "Sandbox", "receipt": {"in_app": [period(3), period(2), period(1)]}})
last = response.receipt.last_in_app
newest = max(response.receipt.in_app, key=lambda one: int(one["purchase_date_ms"]))
print("last_in_app:", last.transaction_id, "newest period:", newest.transaction_id)
assert (last.transaction_id, newest.transaction_id) == ("1", "3")
try:
    response.environment
    raise SystemExit("changed: environment is an attribute")
except AttributeError as error:
    print("environment:", error)
assert response["environment"] == "Sandbox"
PYTHON
