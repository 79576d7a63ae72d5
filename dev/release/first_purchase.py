#!/usr/bin/env python3
"""Buys something in the simulated store and claims it at a server, with no package besides Python.

    dev/release/first_purchase.py STORE SERVER KEY CUSTOMER [TRANSACTION]

Without a transaction it buys coins and claims them. It prints the transaction and the code of the answer. With one it only asks the
server again, and fails unless the purchase is still the customer's.
"""
import json
import sys
import urllib.error
import urllib.request

BUNDLE, COINS = "com.example.game", "com.example.game.coins"


def ask(url: str, body: dict | None = None, key: str | None = None) -> tuple[int, dict]:
    request = urllib.request.Request(url, data=None if body is None else json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def buy(store: str, customer: str) -> tuple[str, str]:
    """The transaction and its signed form."""
    for path, body in (
        ("apps", {"bundle_id": BUNDLE, "environment_names": "apple"}),
        ("products", {"bundle_id": BUNDLE, "product_id": COINS, "kind": "consumable"}),
        ("customers", {"customer_id": customer, "environment": "production"}),
    ):
        status, answer = ask(f"{store}/control/{path}", body)
        # They may be there from an earlier call.
        if status not in (200, 201, 409):
            sys.exit(f"the store does not take {path}: {answer}")
    status, answer = ask(f"{store}/control/purchases", {"bundle_id": BUNDLE, "product_id": COINS, "customer_id": customer})
    if status not in (200, 201):
        sys.exit(f"the store sells nothing: {answer}")
    return answer["transaction"]["transaction_id"], answer["evidence"]["signed_transaction"]


def main() -> None:
    store, server, key, customer, *known = sys.argv[1:]
    if known:
        status, answer = ask(f"{server}/v1/customers/{customer}/purchases", key=key)
        if status != 200 or known[0] not in json.dumps(answer):
            sys.exit(f"the purchase {known[0]} is not the customer's: {status} {answer}")
        print(f"{known[0]} still there")
        return
    transaction, evidence = buy(store, customer)
    claim = {"signed_transaction": evidence, "product_id": COINS, "transaction_id": transaction, "customer_id": customer}
    status, answer = ask(f"{server}/v1/purchases", claim, key)
    if (status, answer.get("code"), answer.get("disposition")) != (200, "accepted", "granted"):
        sys.exit(f"the purchase was not granted: {status} {answer}")
    print(f"{transaction} {answer['code']}")


main()
