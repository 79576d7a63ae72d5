#!/usr/bin/env python3
"""Python clients of verifyReceipt from PyPI, unmodified but for the address, against a running drop-in.

    pip install inapppy itunes-iap
    python3 dev/interop/clients.py http://127.0.0.1:8080 RECEIPT...

Each receipt is a base64 file. Exit status 0 if both clients accept every one of them.
"""
import sys

import itunesiap
import itunesiap.request
from inapppy import AppStoreValidator

base, files = sys.argv[1].rstrip("/"), sys.argv[2:]
production, sandbox = base + "/verifyReceipt", base + "/sandbox/verifyReceipt"


class Validator(AppStoreValidator):
    def _change_url_by_sandbox(self):
        self.url = sandbox if self.sandbox else production


itunesiap.request.RequestBase.PRODUCTION_VALIDATION_URL = production
itunesiap.request.RequestBase.SANDBOX_VALIDATION_URL = sandbox

accepted = 0
for file in files:
    receipt = open(file).read().strip()
    answer = Validator(auto_retry_wrong_env_request=True).validate(receipt, "")
    response = itunesiap.verify(receipt, env=itunesiap.env.review)
    in_app = answer["receipt"]["in_app"]
    assert answer["status"] == 0 and response.status == 0
    assert len(response.receipt.in_app) == len(in_app)
    for ours, theirs in zip(in_app, response.receipt.in_app):
        assert ours["transaction_id"] == str(theirs.transaction_id)
        assert theirs.purchase_date is not None
    accepted += 1
    print(f"inapppy {answer['status']}, itunes-iap {response.status}, {len(in_app):3} purchases, "
          f"{response.receipt.bundle_id}, {response.receipt.receipt_creation_date}")
print(f"{accepted} of {len(files)} receipts accepted by both clients")
sys.exit(0 if accepted == len(files) and files else 1)
