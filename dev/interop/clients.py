#!/usr/bin/env python3
"""Python clients of verifyReceipt from PyPI, unmodified but for the address, against a running drop-in.

    pip install inapppy itunes-iap
    python3 dev/interop/clients.py http://127.0.0.1:8080 RECEIPT... [--signed JWS...]

Each receipt is a base64 file, each JWS the signed transaction of a purchase in the receipt of the same place. Exit status 0 if both
clients accept every one of them, and get the same values for the same purchase. Prints which keys only a receipt has.
"""
import sys

import itunesiap
import itunesiap.request
from inapppy import AppStoreValidator

base, files = sys.argv[1].rstrip("/"), sys.argv[2:]
place = files.index("--signed") if "--signed" in files else len(files)
files, signed = files[:place], files[place + 1:]
production, sandbox = base + "/verifyReceipt", base + "/sandbox/verifyReceipt"


class Validator(AppStoreValidator):
    def _change_url_by_sandbox(self):
        self.url = sandbox if self.sandbox else production


itunesiap.request.RequestBase.PRODUCTION_VALIDATION_URL = production
itunesiap.request.RequestBase.SANDBOX_VALIDATION_URL = sandbox


def ask(text):
    answer = Validator(auto_retry_wrong_env_request=True).validate(text, "")
    response = itunesiap.verify(text, env=itunesiap.env.review)
    assert answer["status"] == 0 and response.status == 0
    return answer, response


accepted = 0
for file in files:
    receipt = open(file).read().strip()
    answer, response = ask(receipt)
    in_app = answer["receipt"]["in_app"]
    assert len(response.receipt.in_app) == len(in_app)
    for ours, theirs in zip(in_app, response.receipt.in_app):
        assert ours["transaction_id"] == str(theirs.transaction_id)
        assert theirs.purchase_date is not None
    accepted += 1
    print(f"inapppy {answer['status']}, itunes-iap {response.status}, {len(in_app):3} purchases, "
          f"{response.receipt.bundle_id}, {response.receipt.receipt_creation_date}")
for file, of in zip(signed, files, strict=True):
    (answer, response), (whole, _) = ask(open(file).read().strip()), ask(open(of).read().strip())
    (entry,), (theirs,) = answer["receipt"]["in_app"], response.receipt.in_app
    same = next(one for one in whole["receipt"]["in_app"] if one["transaction_id"] == entry["transaction_id"])
    assert entry == same, (entry, same)
    assert str(theirs.transaction_id) == same["transaction_id"] and theirs.product_id == same["product_id"]
    info = {one["transaction_id"]: one for one in answer["latest_receipt_info"]}
    assert info[entry["transaction_id"]].items() >= same.items()
    assert "latest_receipt" not in answer
    for key, value in answer["receipt"].items():
        assert key == "in_app" or key.startswith(("request_date", "receipt_creation_date")) or value == whole["receipt"][key], key
    missing = sorted(set(whole["receipt"]) - set(answer["receipt"])) + sorted(set(whole) - set(answer))
    print(f"the signed transaction {entry['transaction_id']}: {len(entry)} keys as in the receipt; not stated: {' '.join(missing)}")
print(f"{accepted} of {len(files)} receipts accepted by both clients")
sys.exit(0 if accepted == len(files) and files else 1)
