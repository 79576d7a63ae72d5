#!/usr/bin/env python3
"""A shop and its App Store in one terminal: order, buy, restore, refund, reverse, renew, share seats, transfer, replay and forge.
The store sends its notifications to the server, so refunds, renewals and seats need no claim.

Starts the simulated App Store and the purchase server, and acts as the app and as the shop's backend. Prints one line a chapter;
with --verbose also each request and its answer. Ends by itself, with exit status 0 only if every step had the expected result;
with --keep it then leaves both servers running until Ctrl-C, and prints what to open in a browser.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from loads.server import RunningServer, ServerFailed, ask

BUNDLE = "com.example.game"
COINS, PRO, MONTHLY = "com.example.game.coins", "com.example.game.pro", "com.example.game.monthly"
TEAM = "com.example.game.team"

SETTINGS = f"""\
apps:
  game:
    bundle_ids: {BUNDLE}
    shared_secret: the shared secret of the game
    products:
      {COINS}: {{ kind: consumable }}
      {PRO}: {{ kind: non_consumable, entitlements: [full-game] }}
      {MONTHLY}: {{ kind: auto_renewable, entitlements: [full-game] }}
      {TEAM}: {{ kind: auto_renewable, entitlements: [full-game] }}
      coins: {{ kind: consumable }} # what the table of attacks claims
"""


# The HTTP status, the code and the disposition of a claim that was accepted.
ACCEPTED = (200, "accepted", "granted")


class StepFailed(Exception):
    """A step whose result was not the expected one."""


class Story:
    """Prints a line for each chapter, and its details if they are wanted, or if it failed."""

    def __init__(self):
        self.verbose = False
        self.chapter, self.result, self.details, self.began = None, "", [], 0.0
        self.is_coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def paint(self, code, text):
        return f"\033[{code}m{text}\033[0m" if self.is_coloured else text

    def begin(self, chapter):
        self.end()
        self.chapter, self.result, self.details, self.began = chapter, "", [], time.monotonic()
        if self.verbose:
            print("\n" + self.paint("1", f"== {chapter}"), flush=True)
        elif self.is_coloured:
            print(self.paint("2", f"… {chapter}"), end="", flush=True)

    def tell(self, text):
        if self.verbose:
            print(text, flush=True)
        else:
            self.details.append(text)

    def end(self, failed=False):
        """Ends the chapter. The details of one that failed are printed."""
        if self.chapter is None:
            return
        if not self.verbose:
            mark = self.paint("31", "✗") if failed else self.paint("32", "✓")
            line = f"{mark} {self.paint('1', f'{self.chapter:31}')}"
            if not failed:
                line += self.paint("2", f" {self.result}")
            line = line.rstrip()
            print(("\r\033[K" if self.is_coloured else "") + line, flush=True)
            if failed:
                print("\n".join(self.details), flush=True)
        self.chapter = None


story = Story()


def title(text):
    story.begin(text)


def tell(text):
    """A detail of the chapter."""
    story.tell(text)


def sum_up(text):
    """What the chapter showed, once all its expectations have held."""
    story.result = text


class Server(RunningServer):
    """A server whose command and first line are shown."""

    def __init__(self, arguments, folder):
        tell("$ " + " ".join(arguments))
        super().__init__(arguments, folder)
        tell("  " + self.ready)


def short(value, limit=46):
    """A value as it is printed: long evidence is cut."""
    if isinstance(value, dict):
        return {name: short(member) for name, member in value.items()}
    if isinstance(value, list):
        return [short(member) for member in value[:3]] + (["…"] if len(value) > 3 else [])
    if isinstance(value, str) and len(value) > limit:
        return value[:limit] + f"… ({len(value)} characters)"
    return value


def show(label, value):
    tell(f"  {label} {json.dumps(short(value), ensure_ascii=False)}")


def expect(condition, what, found):
    if not condition:
        raise StepFailed(f"{what}. Found: {json.dumps(short(found), ensure_ascii=False)}")


class Demo:
    def __init__(self, folder, store, shop, keys):
        self.folder, self.store, self.shop = folder, store, shop
        self.client, self.backend = keys
        self.known = set()  # the notifications that were shown

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
        tell(f"  in the app: {customer} buys {product}; the store signs transaction {transaction['transaction_id']}")
        return transaction["transaction_id"], answer["evidence"]

    # The shop's part.

    def order(self, product, customer):
        body = {"customer_id": customer, "product_id": product}
        status, order = ask(self.shop, "/v1/orders", body, self.backend)
        tell(f"  POST /v1/orders {json.dumps(body)}")
        show(f"-> {status}", {name: order[name] for name in ("order_id", "app_account_token", "status")})
        expect(status == 201 and order["status"] == "created", "The order is created", order)
        return order

    def submit(self, say, expected, **claim):
        """Sends evidence; `expected` is the HTTP status, the code and the disposition."""
        status, answer = ask(self.shop, "/v1/purchases", claim, self.client)
        tell(f"  POST /v1/purchases: {say}")
        found = {name: answer.get(name) for name in ("code", "disposition", "replayed") if answer.get(name) is not None}
        show(f"-> {status}", found)
        expect((status, answer.get("code"), answer.get("disposition")) == expected, f"The answer is {expected}", answer)
        return answer

    def news(self, *expected):
        """Waits until the store has sent its notifications, and shows those that came since the last call."""
        self.control("notifications/deliver")
        status, page = ask(self.shop, "/v1/notifications?limit=100", key=self.backend)
        expect(status == 200, "The notifications are listed", page)
        came = [each for each in reversed(page["notifications"]) if each["notification_id"] not in self.known]
        self.known.update(each["notification_id"] for each in came)
        types = []
        for each in came:
            types.append(" ".join(each[name] for name in ("type", "subtype") if each.get(name)))
            owner = each.get("customer_id", "nobody yet" if each.get("transaction_id") else None)
            tell(f"  Apple -> POST /notifications/v2: {types[-1]}{', of ' + owner if owner else ''}")
        expect(set(expected) <= set(types), f"The server got {', '.join(expected)}", types)

    def entitlements(self, customer):
        status, answer = ask(self.shop, f"/v1/customers/{customer}/entitlements", key=self.backend)
        expect(status == 200, "The entitlements are answered", answer)
        found = {}
        for entitlement in answer["entitlements"]:
            words = [entitlement["state"]]
            if entitlement.get("reason", entitlement["state"]) != entitlement["state"]:
                words.append("because " + entitlement["reason"])
            if entitlement.get("balance") is not None:
                words.append(f"{entitlement['balance']} left")
            if entitlement.get("shortfall"):
                words.append(f"shortfall {entitlement['shortfall']}")
            if entitlement.get("until"):
                words.append("until " + entitlement["until"])
            found[entitlement["product_id"]] = ", ".join(words)
        for name in answer["named"]:
            found[f"[{name['name']}]"] = name["state"]
        tell(f"  {customer} may use {json.dumps(found)}")
        return {entitlement["product_id"]: entitlement for entitlement in answer["entitlements"]}

    # The story.

    def run(self):
        self.open_store()
        self.consumable()
        self.non_consumable()
        self.seats()
        self.refund()
        self.token()
        self.paid_without_a_claim()
        self.tester()
        self.subscription()
        self.drop_in()
        self.forgeries()
        self.events()
        self.record()

    def open_store(self):
        self.control("apps", {
            "bundle_id": BUNDLE, "environment_names": "apple",
            "shared_secret": "the shared secret of the game"})
        self.control("products", {"bundle_id": BUNDLE, "product_id": COINS, "kind": "consumable"})
        self.control("products", {"bundle_id": BUNDLE, "product_id": PRO, "kind": "non-consumable"})
        self.control("products", {
            "bundle_id": BUNDLE, "product_id": MONTHLY, "kind": "auto-renewable",
            "subscription": {"group_id": "1", "level": 1, "period": "P1M"}})
        self.control("products", {
            "bundle_id": BUNDLE, "product_id": TEAM, "kind": "auto-renewable",
            "subscription": {"group_id": "2", "level": 1, "period": "P1M", "invitations": "DEVELOPER"}})
        for customer in ("alice", "carol", "mallory"):
            self.control("customers", {"customer_id": customer, "environment": "production"})
        self.control("customers", {"customer_id": "reviewer", "environment": "sandbox"})
        tell("  four products; alice and carol, who pay, mallory, who does not, and a reviewer in the sandbox")
        answer = self.control("notifications/url", {"url": self.shop + "/notifications/v2"})
        tell(f"  the store sends its notifications to {answer['url']}")
        sum_up(f"{self.store}, {self.shop}")

    def consumable(self):
        title("A consumable, ordered and paid")
        order = self.order(COINS, "alice")
        self.token_of_alice = order["app_account_token"]
        transaction, evidence = self.buy(COINS, "alice", app_account_token=order["app_account_token"])
        own = {
            "signed_transaction": evidence["signed_transaction"], "product_id": COINS,
            "transaction_id": transaction}
        claim = {**own, "order_id": order["order_id"], "customer_id": "alice"}
        answer = self.submit("alice's app submits the signed transaction", ACCEPTED, **claim)
        expect(answer["order"]["status"] == "paid", "The order is paid", answer)
        answer = self.submit("the reply was lost, so the app sends it again", ACCEPTED, **claim)
        expect(answer["replayed"] is True, "It was claimed before", answer)
        self.submit(
            "mallory copied it and submits the same one", (422, "app_account_token_mismatch", "refused"),
            **{**own, "customer_id": "mallory"})
        expect(self.entitlements("alice")[COINS]["balance"] == 1, "It was granted once", None)
        for replayed in (False, True):
            status, fulfilled = ask(self.shop, f"/v1/orders/{order['order_id']}/fulfil", {}, self.backend)
            show(
                f"POST /v1/orders/…/fulfil -> {status}",
                {name: fulfilled.get(name) for name in ("status", "replayed")})
            expect(
                status == 200 and fulfilled["status"] == "fulfilled" and fulfilled["replayed"] is replayed,
                "The order is fulfilled for one caller", fulfilled)
        tell("  only the first caller delivers; the coin is taken from the balance with it")
        expect(self.entitlements("alice")[COINS]["balance"] == 0, "The coin was delivered", None)
        sum_up("granted once; mallory's copy: token mismatch")

    def non_consumable(self):
        title("A restore on a new phone")
        self.pro, evidence = self.buy(PRO, "alice")
        self.receipt = evidence["app_receipt"]
        claim = {"product_id": PRO, "transaction_id": self.pro, "customer_id": "alice"}
        self.submit("the app receipt of alice's device", ACCEPTED, receipt_data=self.receipt, **claim)
        restored = self.control("receipts/restore", {"bundle_id": BUNDLE, "customer_id": "alice"})
        again = [each for each in restored["restored"] if each["product_id"] == PRO][0]["transaction_id"]
        tell(f"  on a new phone alice restores: the store gives a new transaction, {again}, under the old original")
        for customer in ("alice", "mallory"):
            body = {"customer_id": customer, "receipt_data": restored["app_receipt"]}
            status, answer = ask(self.shop, "/v1/restores", body, self.client)
            tell(f"  POST /v1/restores for {customer} -> {status}")
            outcomes = {}
            for purchase in answer.get("purchases", []):
                show("  " + purchase["transaction_id"], {
                    name: purchase[name] for name in ("product_id", "code", "disposition")})
                outcomes[purchase["transaction_id"]] = purchase["code"]
            expected = "accepted" if customer == "alice" else "already_claimed"
            expect(status == 200 and outcomes.get(again) == expected, f"It is {expected}", answer)
        expect(self.entitlements("alice")[PRO]["state"] == "active", "Alice has the full game", None)
        sum_up("alice's counts; mallory's: already claimed")

    def seats(self):
        title("A team's seats")
        team, _ = self.buy(TEAM, "alice", quantity=2, app_account_token=self.token_of_alice)
        tell("  the app passes alice's token, so nobody has to claim anything")
        self.news("SUBSCRIBED INITIAL_BUY")
        self.seat_list(team, 2, [])
        seats = {member: self.give_seat(team, member) for member in ("bob", "dora")}
        self.give_seat(team, "erin", seated=False)
        added = self.control(
            f"subscriptions/{team}/add-seats",
            {"seats": 2, "notification_type": "DID_CHANGE_RENEWAL_PREF"})["transaction"]["transaction_id"]
        tell(f"  alice buys two more seats: transaction {added}, of the same period")
        self.news("DID_CHANGE_RENEWAL_PREF INCREASE_QUANTITY")
        self.seat_list(team, 4, ["bob", "dora"])
        seats["erin"] = self.give_seat(team, "erin")
        self.control(f"transactions/{added}/refund-seats", {"seats": 1})
        tell("  Apple refunds one of the added seats: the others stay")
        self.news("REFUND SEATS")
        self.seat_list(team, 3, ["bob", "dora", "erin"])
        self.control("notifications", {
            "bundle_id": BUNDLE, "type": "UNCLAIM_SEATS", "environment": "production", "seat_ids": [seats["dora"]]})
        tell("  Apple takes dora's seat back")
        self.news("UNCLAIM_SEATS")
        self.seat_list(team, 3, ["bob", "erin"])
        for member, state in (("bob", "active"), ("erin", "active"), ("dora", "withdrawn"), ("alice", "active")):
            found = self.entitlements(member)[TEAM]["state"]
            expect(found == state, f"{member}'s access is {state}", found)
        sum_up("2 bought, 2 added, 1 refunded, 1 taken back")

    def give_seat(self, team, member, seated=True):
        body = {"customer_id": member, "request_id": f"invitation of {member}"}
        status, seat = ask(self.shop, f"/v1/subscriptions/{team}/seats", body, self.backend)
        tell(f"  POST /v1/subscriptions/…/seats {json.dumps(body)}")
        show(f"-> {status}", {name: seat[name] for name in ("code", "seat_id") if seat.get(name)})
        if seated:
            expect(status == 201 and seat["seated"], f"{member} has a seat", seat)
        else:
            expect(seat.get("code") == "no_seat", "All seats are taken", seat)
        return seat.get("seat_id")

    def seat_list(self, team, total, members):
        status, page = ask(self.shop, f"/v1/subscriptions/{team}/seats", key=self.backend)
        show(f"GET /v1/subscriptions/…/seats -> {status}", {name: page.get(name) for name in ("total", "claimed")})
        found = [seat["customer_id"] for seat in page["seats"] if "unclaimed_at" not in seat]
        expect(status == 200 and page["total"] == total and found == members, f"{total} seats, of {members}", page)

    def refund(self):
        title("A refund, and its reversal")
        self.news()
        self.control(f"transactions/{self.pro}/ask-for-refund")
        self.control(f"transactions/{self.pro}/refund")
        tell("  Apple refunds alice; the shop hears of it from the store, not from alice")
        self.news("CONSUMPTION_REQUEST", "REFUND")
        expect(self.entitlements("alice")[PRO]["state"] == "withdrawn", "A refunded purchase is withdrawn", None)
        self.submit(
            "alice sends the old receipt, from before the refund", (422, "purchase_withdrawn", "refused"),
            receipt_data=self.receipt, product_id=PRO, transaction_id=self.pro, customer_id="alice")
        self.control("clock", {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 60))})
        self.control(f"transactions/{self.pro}/reverse-refund")
        tell("  a minute later Apple reverses the refund")
        self.news("REFUND_REVERSED")
        expect(self.entitlements("alice")[PRO]["state"] == "active", "It is active again", None)
        sum_up("by notification; the old receipt is refused")

    def token(self):
        title("A copied receipt, and a token")
        token = "6f1b5b5e-3c1e-4c0f-9f0a-0d7f4c1e2a3b"
        transaction, evidence = self.buy(COINS, "carol", quantity=3, app_account_token=token)
        self.news("ONE_TIME_CHARGE")
        tell("  mallory copies carol's app receipt, which names no customer, and claims it first")
        answer = self.submit(
            "carol's receipt, for mallory", ACCEPTED, receipt_data=evidence["app_receipt"], product_id=COINS,
            transaction_id=transaction, customer_id="mallory")
        status, used = ask(
            self.shop, "/v1/customers/mallory/consume",
            {"product_id": COINS, "quantity": 2, "consumption_id": "match-1"}, self.backend)
        show(f"POST /v1/customers/mallory/consume -> {status}", {"balance": used.get("balance")})
        expect(status == 200 and used["balance"] == 1, "Two were taken", used)
        status, answer = ask(
            self.shop, "/v1/customers/carol/app_account_token", {"app_account_token": token}, self.backend, "PUT")
        show(f"PUT /v1/customers/carol/app_account_token -> {status}", answer)
        expect(status == 200, "The token is assigned", answer)
        self.submit(
            "carol's signed transaction, which carries her token", ACCEPTED,
            signed_transaction=evidence["signed_transaction"], product_id=COINS, transaction_id=transaction,
            customer_id="carol")
        expect(self.entitlements("carol")[COINS]["balance"] == 3, "Carol has all of it", None)
        expect(self.entitlements("mallory")[COINS]["shortfall"] == 2, "What mallory used is their shortfall", None)
        sum_up("carol has 3 coins, mallory owes 2")

    def paid_without_a_claim(self):
        title("An order paid without a claim")
        order = self.order(COINS, "carol")
        self.buy(COINS, "carol", app_account_token=order["app_account_token"])
        tell("  carol's phone loses the network before the app can submit anything")
        self.news("ONE_TIME_CHARGE")
        status, paid = ask(self.shop, f"/v1/orders/{order['order_id']}", key=self.backend)
        show(f"GET /v1/orders/… -> {status}", {"status": paid.get("status")})
        expect(status == 200 and paid["status"] == "paid", "The notification paid the order", paid)
        sum_up("by ONE_TIME_CHARGE; the phone was offline")

    def tester(self):
        title("A purchase in the sandbox")
        transaction, evidence = self.buy(PRO, "reviewer")
        self.submit(
            "the reviewer's purchase, which cost nothing", ACCEPTED, signed_transaction=evidence["signed_transaction"],
            product_id=PRO, transaction_id=transaction, customer_id="reviewer")
        expect(self.entitlements("reviewer")[PRO]["state"] != "active", "It does not count", None)
        self.command(["assay", "customers", "tester", "--app", "game", "reviewer", "--reason", "App Review"])
        expect(self.entitlements("reviewer")[PRO]["state"] == "active", "It counts for a tester", None)
        sum_up("worth nothing until the buyer is a tester")

    def subscription(self):
        title("A subscription renews")
        transaction, evidence = self.buy(MONTHLY, "alice")
        self.submit(
            "the first month", ACCEPTED, signed_transaction=evidence["signed_transaction"], product_id=MONTHLY,
            transaction_id=transaction, customer_id="alice")
        first = self.entitlements("alice")[MONTHLY]["until"]
        self.news("SUBSCRIBED INITIAL_BUY")
        self.control("clock", {"advance": "P32D"})
        tell("  32 days pass in a moment; the store renews, and nobody claims anything")
        self.news("DID_RENEW")
        expect(self.entitlements("alice")[MONTHLY]["until"] > first, "It lasts longer", None)
        self.control(f"subscriptions/{transaction}/cancel")
        tell("  alice cancels: the paid month stays hers")
        self.news("DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED")
        until = self.entitlements("alice")[MONTHLY]
        expect(until["state"] == "active", "The paid month stays", None)
        sum_up(f"cancelled, and active until {until['until'][:10]}")

    def drop_in(self):
        title("verifyReceipt, store and server")
        receipt = self.control("receipts/refresh", {"bundle_id": BUNDLE, "customer_id": "alice"})["app_receipt"]
        body = {"receipt-data": receipt, "password": "the shared secret of the game"}
        answers = [ask(address, "/verifyReceipt", body)[1] for address in (self.store, self.shop)]
        for name, answer in zip(("store ", "server"), answers):
            purchases = [each["transaction_id"] for each in answer.get("receipt", {}).get("in_app", [])]
            show(name, {"status": answer["status"], "environment": answer.get("environment"), "in_app": purchases})
        expect(
            answers[0]["status"] == answers[1]["status"] == 0
            and answers[0]["receipt"]["in_app"] == answers[1]["receipt"]["in_app"],
            "Both answer the same", answers)
        sum_up(f"status 0 from both, {len(answers[1]['receipt']['in_app'])} equal purchases")

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
            "a genuine receipt that proves no purchase, as jailbreak tweaks show it", (422, "no_purchases", "retry"),
            receipt_data=empty, product_id=PRO, transaction_id="1", customer_id="mallory")
        self.entitlements("mallory")
        sum_up("8 rejected, each with its reason")

    def refused(self, fault, transaction, **evidence):
        claim = {
            "product_id": COINS, "transaction_id": transaction["transaction"]["transaction_id"],
            "customer_id": "mallory", **evidence}
        status, answer = ask(self.shop, "/v1/purchases", claim, self.client)
        tell(f"  {fault:24} -> {status} {answer.get('code')}")
        expect(status == 422 and answer.get("verdict") == "rejected", f"{fault} is refused", answer)

    def events(self):
        title("Events")
        kinds, cursor = [], ""
        while True:
            status, page = ask(self.shop, f"/v1/events?limit=10{cursor}", key=self.backend)
            expect(status == 200, "The events are listed", page)
            for event in page["events"]:
                who = event.get("customer_id", "nobody")
                if event.get("former_customer_id") == who:
                    who = f"{who} -> another"  # the same transfer, for the customer who lost it
                elif event.get("former_customer_id"):
                    who = f"{event['former_customer_id']} -> {who}"
                what = [event[name] for name in ("product_id", "transaction_id") if event.get(name)]
                numbers = [f"{name} {event[name]}" for name in ("units", "balance", "shortfall") if event.get(name) is not None]
                tell(f"  {event['type']:16} {who:18} {' '.join(what + numbers)}")
                kinds.append(event["type"])
            cursor = f"&cursor={page['next_cursor']}"
            if not page["events"]:
                break
        expect(
            {"order_paid", "order_fulfilled", "granted", "refund_requested", "revoked", "reversed", "transferred", "renewed", "renewal_changed",
             "seat_claimed", "seat_unclaimed"} <= set(kinds),
            "Each kind of change is listed", kinds)
        sum_up(f"{len(kinds)} events of {len(set(kinds))} kinds, in order")

    def record(self):
        title("The record")
        status, page = ask(self.shop, "/v1/submissions?limit=100", key=self.backend)
        rows = page["submissions"]
        accepted = len([row for row in rows if row["verdict"] == "accepted"])
        tell(f"  GET /v1/submissions -> {status}: {len(rows)} kept, {accepted} of them accepted")
        expect(status == 200 and len(rows) > accepted > 0, "Every submission is kept", page)
        self.command(["assay", "show", "--app", "game", "mallory"], lines=20)
        self.command(["assay", "audit", "verify", "--evidence", "--trust", "assay-authority/trust.pem"])
        sum_up(f"{len(rows)} submissions; computed again and audited: all equal")
        title("The table of attacks")
        with open(os.path.join(self.folder, "key"), "w", encoding="utf-8") as file:
            file.write(self.client)
        self.command(
            ["assay", "simulate", "attacks", "--against", self.shop, "--bundle-id", BUNDLE, "--api-key-file", "key"])
        sum_up("no attack gets anything")

    def command(self, arguments, lines=4):
        tell("$ " + " ".join(arguments))
        result = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True)
        for line in result.stdout.splitlines()[-lines:]:
            tell("  " + line)
        expect(result.returncode == 0, f"{' '.join(arguments[:3])} ends well", result.stdout + result.stderr)


def wait_for_interrupt(store, shop, key):
    """Leaves the servers running for a person who wants to look."""
    print(f"""
The servers keep running until Ctrl-C. Look at:
  {store}/  the simulated App Store: buy, refund, renew and forge by hand
  {shop}/openapi.yaml  what the purchase server understands
  curl -H 'Authorization: Bearer {key}' {shop}/v1/customers/alice/timeline""", flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        print()


def main():
    reader = argparse.ArgumentParser(description="A shop and its App Store in one terminal.")
    reader.add_argument("--verbose", action="store_true", help="print each request and its answer")
    reader.add_argument("--keep", action="store_true", help="leave both servers running at the end, until Ctrl-C")
    options = reader.parse_args()
    story.verbose = options.verbose
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".build", "release")
    os.environ["PATH"] = os.path.abspath(os.environ.get("ASSAY_BIN", program)) + os.pathsep + os.environ["PATH"]
    servers = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            with open(os.path.join(folder, "assay.yaml"), "w", encoding="utf-8") as file:
                file.write(SETTINGS)
            title("A store and a server")
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
            tell("  two keys: one for the app, which may submit, and one for the shop's backend")
            Demo(folder, store.address, shop.address, keys).run()
            if options.keep:
                story.end()
                wait_for_interrupt(store.address, shop.address, keys[1])
            title("Both stop on SIGTERM")
            for server in servers:
                expect(server.stop() == 0, "The server stops", server.process.args)
            servers.clear()
            story.end()
            print(f"\nEvery step had the expected result, in {time.monotonic() - began:.0f} seconds.", end="")
            print("" if options.verbose else " Each request and answer: dev/demo.py --verbose")
        except (StepFailed, ServerFailed) as error:
            story.end(failed=True)
            print(f"\nFailed: {error}", file=sys.stderr)
            sys.exit(1)
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    main()
