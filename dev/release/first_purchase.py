#!/usr/bin/env python3
"""Buys something in the simulated store and claims it at a server.

    dev/release/first_purchase.py STORE SERVER KEY CUSTOMER [TRANSACTION]

Without a transaction it buys coins and claims them. It prints the transaction and the code of the answer. With one it only asks the
server again, and fails unless the purchase is still the customer's.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from servers import ask

BUNDLE, COINS = "com.example.game", "com.example.game.coins"
store, server, key, customer, *known = sys.argv[1:]


def control(path: str, **body: str) -> dict:
    status, answer = ask(store, f"/control/{path}", body)
    # The app, the product and the customer may be there from an earlier call.
    return answer if status in (200, 201, 409) else sys.exit(f"the store does not take {path}: {answer}")


if known:
    status, answer = ask(server, f"/v1/customers/{customer}/purchases", key=key)
    if status != 200 or known[0] not in json.dumps(answer):
        sys.exit(f"the purchase {known[0]} is not the customer's: {status} {answer}")
    print(f"{known[0]} still there")
else:
    control("apps", bundle_id=BUNDLE, environment_names="apple")
    control("products", bundle_id=BUNDLE, product_id=COINS, kind="consumable")
    control("customers", customer_id=customer, environment="production")
    bought = control("purchases", bundle_id=BUNDLE, product_id=COINS, customer_id=customer)
    transaction, evidence = bought["transaction"]["transaction_id"], bought["evidence"]["signed_transaction"]
    status, answer = ask(server, "/v1/purchases", {
        "signed_transaction": evidence, "product_id": COINS, "transaction_id": transaction, "customer_id": customer}, key)
    if (status, answer.get("code"), answer.get("disposition")) != (200, "accepted", "granted"):
        sys.exit(f"the purchase was not granted: {status} {answer}")
    print(f"{transaction} {answer['code']}")
