#!/usr/bin/env python3
"""A shop and its App Store in one terminal: buy, renew, refund, replay and forge.

Starts the simulated App Store and the purchase server, acts as the app and as the shop's backend, and prints each request and
its answer. Ends by itself, with exit status 0 only if every step had the expected result.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from running_server import RunningServer, ServerFailed

BUNDLE = "com.example.game"
COINS, PRO, MONTHLY = "com.example.game.coins", "com.example.game.pro", "com.example.game.monthly"

SETTINGS = f"""\
apps:
  game:
    bundle_ids: {BUNDLE}
    shared_secret: the shared secret of the game
    products:
      {COINS}: {{ type: consumable }}
      {PRO}: {{ type: non_consumable }}
      {MONTHLY}: {{ type: auto_renewable }}
      coins: {{ type: consumable }} # what the table of attacks claims
"""


class StepFailed(Exception):
    """A step whose result was not the expected one."""


class Server(RunningServer):
    """A server whose command and first line are shown."""

    def __init__(self, arguments, folder):
        print("$ " + " ".join(arguments), flush=True)
        super().__init__(arguments, folder)
        print("  " + self.ready)


def ask(address, path, body=None, key=None, headers=None):
    """The HTTP status and the JSON of an answer."""
    request = urllib.request.Request(address + path, method="GET" if body is None else "POST")
    request.add_header("Accept", "application/json")
    if key:
        request.add_header("Authorization", "Bearer " + key)
    for name, value in (headers or {}).items():
        request.add_header(name, value)
    data = None
    if body is not None:
        request.add_header("Content-Type", "application/json")
        data = json.dumps(body).encode()
    try:
        with urllib.request.urlopen(request, data, timeout=30) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


def short(value, limit=46):
    """A value as it is printed: long evidence is cut."""
    if isinstance(value, dict):
        return {name: short(member) for name, member in value.items()}
    if isinstance(value, list):
        return [short(member) for member in value[:3]] + (["…"] if len(value) > 3 else [])
    if isinstance(value, str) and len(value) > limit:
        return value[:limit] + f"… ({len(value)} characters)"
    return value


def title(text):
    print(f"\n== {text}")


def show(label, value):
    print(f"  {label} {json.dumps(short(value), ensure_ascii=False)}")


def expect(condition, what, found):
    if not condition:
        raise StepFailed(f"{what}. Found: {json.dumps(short(found), ensure_ascii=False)}")


class Demo:
    def __init__(self, folder, store, shop, keys):
        self.folder, self.store, self.shop = folder, store, shop
        self.client, self.backend = keys

    # The App Store's part.

    def control(self, path, body=None):
        status, answer = ask(self.store, "/control/" + path, {} if body is None else body)
        expect(status in (200, 201), f"The store takes {path}", answer)
        return answer

    def buy(self, product, customer, **options):
        """What the customer does in the app: StoreKit asks the store, which takes the money and signs."""
        answer = self.control(
            "purchases", {"bundle_id": BUNDLE, "product_id": product, "customer_id": customer, **options})
        transaction = answer["transaction"]
        print(f"  in the app: {customer} buys {product}; the store signs transaction {transaction['transaction_id']}")
        return transaction["transaction_id"], answer["evidence"]

    # The shop's part.

    def order(self, product, customer):
        body = {"customer_id": customer, "product_id": product}
        status, order = ask(self.shop, "/v1/orders", body, self.backend)
        print(f"  POST /v1/orders {json.dumps(body)}")
        show(f"-> {status}", {name: order[name] for name in ("order_id", "app_account_token", "status")})
        expect(status == 201 and order["status"] == "created", "The order is created", order)
        return order

    def submit(self, say, expected, **claim):
        """Sends evidence; `expected` is the HTTP status and the verdict, or the code of a refusal."""
        status, answer = ask(self.shop, "/v1/purchases", claim, self.client)
        print(f"  POST /v1/purchases: {say}")
        found = {name: answer.get(name) for name in ("verdict", "code", "replayed") if answer.get(name) is not None}
        show(f"-> {status}", found)
        word = answer.get("code") if answer.get("verdict") != "accepted" else "accepted"
        expect((status, word) == expected, f"The answer is {expected}", answer)
        return answer

    def entitlements(self, customer):
        status, answer = ask(self.shop, f"/v1/customers/{customer}/entitlements", key=self.backend)
        expect(status == 200, "The entitlements are answered", answer)
        found = {}
        for entitlement in answer["entitlements"]:
            words = [entitlement["state"]]
            if entitlement.get("balance") is not None:
                words.append(f"{entitlement['balance']} left")
            if entitlement.get("until"):
                words.append("until " + entitlement["until"])
            found[entitlement["product_id"]] = ", ".join(words)
        show(f"{customer} may use", found)
        return {entitlement["product_id"]: entitlement for entitlement in answer["entitlements"]}

    # The story.

    def run(self):
        self.open_store()
        self.consumable()
        self.non_consumable()
        self.subscription()
        self.drop_in()
        self.forgeries()
        self.record()

    def open_store(self):
        title("An app goes on sale in a store of our own")
        self.control("apps", {
            "bundle_id": BUNDLE, "environment_names": "apple",
            "shared_secret": "the shared secret of the game"})
        self.control("products", {"bundle_id": BUNDLE, "product_id": COINS, "kind": "consumable"})
        self.control("products", {"bundle_id": BUNDLE, "product_id": PRO, "kind": "non-consumable"})
        self.control("products", {
            "bundle_id": BUNDLE, "product_id": MONTHLY, "kind": "auto-renewable",
            "subscription": {"group_id": "1", "level": 1, "period": "P1M"}})
        for customer in ("alice", "mallory"):
            self.control("customers", {"customer_id": customer})
        print("  three products, two customers: alice, who pays, and mallory, who does not")

    def consumable(self):
        title("A consumable: ordered, paid, granted once")
        order = self.order(COINS, "alice")
        transaction, evidence = self.buy(COINS, "alice", app_account_token=order["app_account_token"])
        own = {
            "signed_transaction": evidence["signed_transaction"], "product_id": COINS,
            "transaction_id": transaction}
        claim = {**own, "order_id": order["order_id"], "customer_id": "alice"}
        answer = self.submit("alice's app submits the signed transaction", (200, "accepted"), **claim)
        expect(answer["order"]["status"] == "paid", "The order is paid", answer)
        answer = self.submit("the reply was lost, so the app sends it again", (200, "accepted"), **claim)
        expect(answer["replayed"] is True, "The first answer is repeated", answer)
        self.submit(
            "mallory copied it and submits the same one", (409, "already_claimed"),
            **{**own, "customer_id": "mallory"})
        expect(self.entitlements("alice")[COINS]["balance"] == 1, "It was granted once", None)
        status, fulfilled = ask(self.shop, f"/v1/orders/{order['order_id']}/fulfil", {}, self.backend)
        show(f"POST /v1/orders/…/fulfil -> {status}", {"status": fulfilled.get("status")})
        expect(status == 200 and fulfilled["status"] == "fulfilled", "The order is fulfilled", fulfilled)
        status, used = ask(
            self.shop, "/v1/customers/alice/consume", {"product_id": COINS, "consumption_id": "match-1"}, self.backend)
        show(f"POST /v1/customers/alice/consume -> {status}", {"balance": used.get("balance")})
        expect(status == 200 and used["balance"] == 0, "One was taken", used)

    def non_consumable(self):
        title("A non-consumable, from an app receipt; and its refund")
        transaction, evidence = self.buy(PRO, "alice")
        claim = {"product_id": PRO, "transaction_id": transaction, "customer_id": "alice"}
        self.submit("the app receipt of alice's device", (200, "accepted"), receipt_data=evidence["app_receipt"], **claim)
        restored = self.control("receipts/restore", {"bundle_id": BUNDLE, "customer_id": "alice"})
        again = [each for each in restored["restored"] if each["product_id"] == PRO][0]["transaction_id"]
        print(f"  on a new phone alice restores: the store gives a new transaction, {again}, under the old original")
        self.submit(
            "the restored receipt, for alice", (200, "accepted"), receipt_data=restored["app_receipt"],
            product_id=PRO, transaction_id=again, customer_id="alice")
        self.submit(
            "the restored receipt, for mallory", (409, "already_claimed"), receipt_data=restored["app_receipt"],
            product_id=PRO, transaction_id=again, customer_id="mallory")
        self.entitlements("alice")
        refunded = self.control(f"transactions/{transaction}/refund")
        print("  Apple refunds alice")
        self.submit(
            "the transaction as the store signs it now", (422, "purchase_revoked"),
            signed_transaction=refunded["evidence"]["signed_transaction"], **claim)
        self.submit(
            "the old receipt, from before the refund", (422, "purchase_withdrawn"),
            receipt_data=evidence["app_receipt"], **claim)
        expect(self.entitlements("alice")[PRO]["state"] != "active", "A refunded purchase is not active", None)

    def subscription(self):
        title("A subscription, and its renewal")
        transaction, evidence = self.buy(MONTHLY, "alice")
        claim = {"product_id": MONTHLY, "customer_id": "alice"}
        self.submit(
            "the first month", (200, "accepted"), signed_transaction=evidence["signed_transaction"],
            transaction_id=transaction, **claim)
        first = self.entitlements("alice")[MONTHLY]["until"]
        self.control("clock", {"advance": "P32D"})
        state = ask(self.store, "/control/state")[1]
        renewed = [each for each in state["transactions"] if each["product_id"] == MONTHLY][-1]
        print(f"  32 days pass in a moment; the store renews: transaction {renewed['transaction_id']}")
        status, latest = ask(self.store, f"/control/transactions/{renewed['transaction_id']}")
        expect(status == 200, "The store signs the renewal", latest)
        self.submit(
            "the second month", (200, "accepted"), signed_transaction=latest["evidence"]["signed_transaction"],
            transaction_id=renewed["transaction_id"], **claim)
        expect(self.entitlements("alice")[MONTHLY]["until"] > first, "It lasts longer", None)

    def drop_in(self):
        title("verifyReceipt: the store's own answer beside the server's, from the same receipt")
        receipt = self.control("receipts/refresh", {"bundle_id": BUNDLE, "customer_id": "alice"})["app_receipt"]
        body = {"receipt-data": receipt, "password": "the shared secret of the game"}
        answers = [ask(address, "/sandbox/verifyReceipt", body)[1] for address in (self.store, self.shop)]
        for name, answer in zip(("store ", "server"), answers):
            purchases = [each["transaction_id"] for each in answer.get("receipt", {}).get("in_app", [])]
            show(name, {"status": answer["status"], "environment": answer.get("environment"), "in_app": purchases})
        expect(
            answers[0]["status"] == answers[1]["status"] == 0
            and answers[0]["receipt"]["in_app"] == answers[1]["receipt"]["in_app"],
            "Both answer the same", answers)

    def forgeries(self):
        title("Forgeries")
        wrong = {"bundle_id": BUNDLE, "product_id": COINS, "customer_id": "mallory"}
        for fault in ("alg-none", "own-leaf", "flipped-payload-byte", "reused-signature"):
            answer = self.control("purchases", {**wrong, "faults": {"signed_transaction": fault}})
            self.refused(fault, signed_transaction=answer["evidence"]["signed_transaction"], transaction=answer)
        for fault in ("wrong-root", "developer-certificate", "flipped-payload-byte"):
            answer = self.control("purchases", {**wrong, "faults": {"app_receipt": fault}})
            self.refused(fault, receipt_data=answer["evidence"]["app_receipt"], transaction=answer)
        answer = self.control("purchases", {**wrong, "faults": {"transaction_receipt": "edited-purchase-info"}})
        self.refused(
            "edited-purchase-info", receipt_data=answer["evidence"]["transaction_receipt"], transaction=answer)
        self.control("customers", {"customer_id": "nobody"})
        empty = self.control("receipts/refresh", {"bundle_id": BUNDLE, "customer_id": "nobody"})["app_receipt"]
        self.submit(
            "a genuine receipt that proves no purchase, as jailbreak tweaks show it", (422, "no_purchases"),
            receipt_data=empty, product_id=PRO, transaction_id="1", customer_id="mallory")
        self.entitlements("mallory")

    def refused(self, fault, transaction, **evidence):
        claim = {
            "product_id": COINS, "transaction_id": transaction["transaction"]["transaction_id"],
            "customer_id": "mallory", **evidence}
        status, answer = ask(self.shop, "/v1/purchases", claim, self.client)
        print(f"  {fault:24} -> {status} {answer.get('code')}")
        expect(status == 422 and answer.get("verdict") == "rejected", f"{fault} is refused", answer)

    def record(self):
        title("The record")
        status, page = ask(self.shop, "/v1/submissions?limit=100", key=self.backend)
        rows = page["submissions"]
        accepted = len([row for row in rows if row["verdict"] == "accepted"])
        print(f"  GET /v1/submissions -> {status}: {len(rows)} kept, {accepted} of them accepted")
        expect(status == 200 and len(rows) > accepted > 0, "Every submission is kept", page)
        self.command(["assay", "audit", "verify"])
        title("The whole table of attacks, against the server as it runs")
        with open(os.path.join(self.folder, "key"), "w", encoding="utf-8") as file:
            file.write(self.client)
        self.command(
            ["assay", "simulate", "attacks", "--against", self.shop, "--bundle-id", BUNDLE, "--api-key-file", "key"])

    def command(self, arguments):
        print("$ " + " ".join(arguments), flush=True)
        result = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True)
        for line in result.stdout.splitlines()[-4:]:
            print("  " + line.strip())
        expect(result.returncode == 0, f"{' '.join(arguments[:3])} ends well", result.stdout + result.stderr)


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".build", "debug")
    os.environ["PATH"] = os.path.abspath(os.environ.get("ASSAY_BIN", program)) + os.pathsep + os.environ["PATH"]
    servers = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            with open(os.path.join(folder, "assay.yaml"), "w", encoding="utf-8") as file:
                file.write(SETTINGS)
            title("A simulated App Store, and the purchase server that trusts it")
            store = Server(["assay", "simulate", "--port", "0", "--log-level", "warning"], folder)
            servers.append(store)
            shop = Server(
                ["assay", "serve", "--port", "0", "--trust", "assay-authority/trust.pem", "--log-level", "warning"], folder)
            servers.append(shop)
            keys = []
            for scope in ("client", "backend"):
                made = subprocess.run(
                    ["assay", "keys", "create", "--app", "game", "--scope", scope], cwd=folder,
                    capture_output=True, text=True, check=True)
                keys.append(made.stdout.strip())
            print("  two keys: one for the app, which may submit, and one for the shop's backend")
            Demo(folder, store.address, shop.address, keys).run()
            title("Both servers stop on SIGTERM")
            for server in servers:
                expect(server.stop() == 0, "The server stops", server.process.args)
            servers.clear()
            print("  stopped.\n\nEvery step had the expected result.")
        except (StepFailed, ServerFailed) as error:
            print(f"\nFailed: {error}", file=sys.stderr)
            sys.exit(1)
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    main()
