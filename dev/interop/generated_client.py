#!/usr/bin/env python3
"""Buys coins with the client that openapi-python-client generated: generated_client.py FOLDER SERVER KEY STORE BUNDLE_ID."""
import json
import sys
import urllib.request
import uuid

folder, server, key, store, bundle_id = sys.argv[1:]
sys.path.insert(0, folder)

from assay_client import AuthenticatedClient
from assay_client.api.orders import create_order, fulfil_order
from assay_client.api.purchases import list_entitlements, submit_purchase
from assay_client.api.record import list_events
from assay_client.models import EntitlementState, OrderRequest, Problem, PurchaseAnswer, PurchaseRequest


def buy(product, customer, token):
    """Buys in the simulated store, and returns the transaction id and the signed transaction."""
    body = {"bundle_id": bundle_id, "product_id": product, "customer_id": customer, "app_account_token": token,
            "quantity": 3}
    request = urllib.request.Request(
        store + "/control/purchases", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        bought = json.load(answer)
    return bought["transaction"]["transaction_id"], bought["evidence"]["signed_transaction"]


client = AuthenticatedClient(base_url=server, token=key)
refused = create_order.sync(
    client=client, body=OrderRequest(customer_id="", product_id="coins"), idempotency_key=uuid.uuid4().hex)
assert isinstance(refused, Problem) and refused.code == "field_missing", refused
order = create_order.sync(
    client=client, body=OrderRequest(customer_id="production", product_id="coins", quantity=3),
    idempotency_key=uuid.uuid4().hex)
transaction, signed = buy("coins", "production", str(order.app_account_token))
answer = submit_purchase.sync(
    client=client, body=PurchaseRequest(
        product_id="coins", transaction_id=transaction, signed_transaction=signed, order_id=str(order.order_id)))
assert isinstance(answer, PurchaseAnswer) and answer.disposition == "granted", answer
delivered = fulfil_order.sync(str(order.order_id), client=client)
assert delivered.status == "fulfilled" and delivered.replayed is False, delivered
entitlements = list_entitlements.sync("production", client=client)
assert entitlements.entitlements[0].state == EntitlementState.CONSUMED, entitlements
events = list_events.sync(client=client, order_id=str(order.order_id))
types = [event.type_.value for event in events.events]
assert types == ["order_created", "order_paid", "order_fulfilled"], types
print(f"python client: bought {order.quantity} coins, accepted, delivered")
