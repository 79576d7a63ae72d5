#!/usr/bin/env python3
"""A shop and its App Store in one terminal: order, buy, restore, refund, reverse, renew, share seats, transfer, replay and forge.
The store sends its notifications to the server, so refunds, renewals and seats need no claim.

Starts the simulated App Store and the purchase server, and acts as the app and as the shop's backend. Prints one line a chapter;
with --verbose also each request and its answer. Ends by itself, with exit status 0 only if every step had the expected result;
with --keep it then leaves both servers running until Ctrl-C, and prints what to open in a browser.
"""
import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from servers import RunningServer, ServerFailed, ask, find_program

BUNDLE = "com.example.game"
COINS, PRO, MONTHLY, TEAM = (f"{BUNDLE}.{name}" for name in ("coins", "pro", "monthly", "team"))

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
        self.verbose, self.details = False, []
        self.is_coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def paint(self, code, text):
        return f"\033[{code}m{text}\033[0m" if self.is_coloured else text

    def tell(self, text):
        if self.verbose:
            print(text, flush=True)
        else:
            self.details.append(text)

    @contextlib.contextmanager
    def chapter(self, name):
        """Once all expectations of the chapter have held, what it showed is in the list that it gets. The details of one that failed are
        printed."""
        self.details, result = [], []
        if self.verbose:
            print("\n" + self.paint("1", f"== {name}"), flush=True)
        elif self.is_coloured:
            print(self.paint("2", f"… {name}"), end="", flush=True)

        def end(mark, text):
            if not self.verbose:
                line = f"{mark} {self.paint('1', f'{name:31}')} {text}".rstrip()
                print(("\r\033[K" if self.is_coloured else "") + line, flush=True)

        try:
            yield result
        except BaseException:
            end(self.paint("31", "✗"), "")
            print("\n".join(self.details), flush=True)
            raise
        end(self.paint("32", "✓"), self.paint("2", "".join(result)))


story = Story()


def tell(text):
    """A detail of the chapter."""
    story.tell(text)


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
    """The story. Each chapter returns what it showed."""

    def __init__(self, folder):
        self.folder, self.servers = folder, []
        self.known = set()  # the notifications that were shown

    # The App Store's part.

    def control(self, path, **body):
        status, answer = ask(self.store, "/control/" + path, body)
        expect(status in (200, 201), f"The store takes {path}", answer)
        return answer

    def buy(self, product, customer, **options):
        """What the customer does in the app: StoreKit asks the store, which takes the money and signs."""
        answer = self.control("purchases", bundle_id=BUNDLE, product_id=product, customer_id=customer, **options)
        transaction = answer["transaction"]["transaction_id"]
        tell(f"  in the app: {customer} buys {product}; the store signs transaction {transaction}")
        return transaction, answer["evidence"]

    # The shop's part.

    def call(self, path, body=None, method=None, expected=200, shown=None, key=None, **members):
        """A request of the shop's backend, which must be answered with a status, and with members as they are named."""
        status, answer = ask(self.shop, path, body, key or self.backend, method)
        if shown is not None:
            method = method or ("GET" if body is None else "POST")
            sent = f" {json.dumps(short(body), ensure_ascii=False)}" if body else ""
            found = {name: answer[name] for name in shown if answer.get(name) is not None}
            show(f"{method} {re.sub('[0-9a-f-]{36}|[0-9]{12,}', '…', path)}{sent} -> {status}", found)
        has_members = all(answer.get(name) == value for name, value in members.items())
        expect(status == expected and has_members, f"{path} is answered {expected} {members or ''}", answer)
        return answer

    def order(self, product, customer):
        return self.call("/v1/orders", {"customer_id": customer, "product_id": product}, expected=201, status="created",
                         shown=("order_id", "app_account_token", "status"))

    def submit(self, say, expected, **claim):
        """Sends evidence; `expected` is the HTTP status, the code and the disposition."""
        status, answer = ask(self.shop, "/v1/purchases", claim, self.client)
        tell(f"  POST /v1/purchases: {say}")
        show(f"-> {status}", {name: answer[name] for name in ("code", "disposition", "replayed") if answer.get(name) is not None})
        expect((status, answer.get("code"), answer.get("disposition")) == expected, f"The answer is {expected}", answer)
        return answer

    def news(self, *expected):
        """Waits until the store has sent its notifications, and shows those that came since the last call."""
        self.control("notifications/deliver")
        page = self.call("/v1/notifications?limit=100")
        came = [each for each in reversed(page["notifications"]) if each["notification_id"] not in self.known]
        self.known.update(each["notification_id"] for each in came)
        types = []
        for each in came:
            types.append(" ".join(each[name] for name in ("type", "subtype") if each.get(name)))
            owner = each.get("customer_id", "nobody yet" if each.get("transaction_id") else None)
            tell(f"  Apple -> POST /notifications/v2: {types[-1]}{', of ' + owner if owner else ''}")
        expect(set(expected) <= set(types), f"The server got {', '.join(expected)}", types)

    def entitlements(self, customer):
        answer, found = self.call(f"/v1/customers/{customer}/entitlements"), {}
        for each in answer["entitlements"]:
            reason = each.get("reason", each["state"])
            words = [each["state"], f"because {reason}" if reason != each["state"] else "",
                     f"{each['balance']} left" if each.get("balance") is not None else "",
                     f"shortfall {each['shortfall']}" if each.get("shortfall") else "", f"until {each['until']}" if each.get("until") else ""]
            found[each["product_id"]] = ", ".join(filter(None, words))
        tell(f"  {customer} may use {json.dumps(found | {'[' + each['name'] + ']': each['state'] for each in answer['named']})}")
        return {each["product_id"]: each for each in answer["entitlements"]}

    def has(self, customer, product, **members):
        """Expects members of an entitlement."""
        found = self.entitlements(customer)[product]
        expect(all(found.get(name) == value for name, value in members.items()), f"{customer} has {product} with {members}", found)
        return found

    def command(self, arguments, lines=4):
        tell("$ " + " ".join(arguments))
        result = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True)
        for line in result.stdout.splitlines()[-lines:]:
            tell("  " + line)
        expect(result.returncode == 0, f"{' '.join(arguments[:3])} ends well", result.stdout + result.stderr)

    # The chapters.

    def open_store(self):
        self.servers.append(Server(["assay", "simulate", "--port", "0", "--log-level", "warning"], self.folder))
        self.servers.append(Server(
            ["assay", "serve", "--port", "0", "--trust", "assay-authority/trust.pem", "--log-level", "warning"], self.folder))
        self.store, self.shop = (server.address for server in self.servers)
        self.client, self.backend = (subprocess.run(
            ["assay", "keys", "create", "--app", "game", "--scope", scope], cwd=self.folder, capture_output=True, text=True,
            check=True).stdout.strip() for scope in ("client", "backend"))
        tell("  two keys: one for the app, which may submit, and one for the shop's backend")
        self.control("apps", bundle_id=BUNDLE, environment_names="apple", shared_secret="the shared secret of the game")
        terms = {"level": 1, "period": "P1M"}
        for product, kind, more in (
                (COINS, "consumable", {}), (PRO, "non-consumable", {}),
                (MONTHLY, "auto-renewable", {"subscription": {"group_id": "1", **terms}}),
                (TEAM, "auto-renewable", {"subscription": {"group_id": "2", "invitations": "DEVELOPER", **terms}})):
            self.control("products", bundle_id=BUNDLE, product_id=product, kind=kind, **more)
        for customer in ("alice", "carol", "mallory", "reviewer"):
            self.control("customers", customer_id=customer, environment="sandbox" if customer == "reviewer" else "production")
        tell("  four products; alice and carol, who pay, mallory, who does not, and a reviewer in the sandbox")
        answer = self.control("notifications/url", url=self.shop + "/notifications/v2")
        tell(f"  the store sends its notifications to {answer['url']}")
        return f"{self.store}, {self.shop}"

    def consumable(self):
        order = self.order(COINS, "alice")
        self.token_of_alice = order["app_account_token"]
        transaction, evidence = self.buy(COINS, "alice", app_account_token=self.token_of_alice)
        own = {"signed_transaction": evidence["signed_transaction"], "product_id": COINS, "transaction_id": transaction}
        claim = {**own, "order_id": order["order_id"], "customer_id": "alice"}
        answer = self.submit("alice's app submits the signed transaction", ACCEPTED, **claim)
        expect(answer["order"]["status"] == "paid", "The order is paid", answer)
        answer = self.submit("the reply was lost, so the app sends it again", ACCEPTED, **claim)
        expect(answer["replayed"] is True, "It was claimed before", answer)
        self.submit("mallory copied it and submits the same one", (422, "app_account_token_mismatch", "refused"),
                    **own, customer_id="mallory")
        self.has("alice", COINS, balance=1)
        for replayed in (False, True):
            self.call(f"/v1/orders/{order['order_id']}/fulfil", {}, shown=("status", "replayed"), status="fulfilled", replayed=replayed)
        tell("  only the first caller delivers; the coin is taken from the balance with it")
        self.has("alice", COINS, balance=0)
        return "granted once; mallory's copy: token mismatch"

    def non_consumable(self):
        self.pro, evidence = self.buy(PRO, "alice")
        self.receipt = evidence["app_receipt"]
        self.submit("the app receipt of alice's device", ACCEPTED, receipt_data=self.receipt, product_id=PRO, transaction_id=self.pro,
                    customer_id="alice")
        restored = self.control("receipts/restore", bundle_id=BUNDLE, customer_id="alice")
        again = next(each["transaction_id"] for each in restored["restored"] if each["product_id"] == PRO)
        tell(f"  on a new phone alice restores: the store gives a new transaction, {again}, under the old original")
        for customer, expected in (("alice", "accepted"), ("mallory", "already_claimed")):
            tell(f"  a restore for {customer}")
            answer = self.call("/v1/restores", {"customer_id": customer, "receipt_data": restored["app_receipt"]}, key=self.client, shown=())
            for purchase in answer["purchases"]:
                show("  " + purchase["transaction_id"], {name: purchase[name] for name in ("product_id", "code", "disposition")})
            codes = {purchase["transaction_id"]: purchase["code"] for purchase in answer["purchases"]}
            expect(codes.get(again) == expected, f"It is {expected}", answer)
        self.has("alice", PRO, state="active")
        return "alice's counts; mallory's: already claimed"

    def seats(self):
        team, _ = self.buy(TEAM, "alice", quantity=2, app_account_token=self.token_of_alice)
        tell("  the app passes alice's token, so nobody has to claim anything")
        self.news("SUBSCRIBED INITIAL_BUY")
        self.seat_list(team, 2, [])
        seats = {member: self.give_seat(team, member) for member in ("bob", "dora")}
        self.give_seat(team, "erin", expected=409, code="no_seat")
        added = self.control(f"subscriptions/{team}/add-seats", seats=2,
                             notification_type="DID_CHANGE_RENEWAL_PREF")["transaction"]["transaction_id"]
        tell(f"  alice buys two more seats: transaction {added}, of the same period")
        self.news("DID_CHANGE_RENEWAL_PREF INCREASE_QUANTITY")
        self.seat_list(team, 4, ["bob", "dora"])
        self.give_seat(team, "erin")
        self.control(f"transactions/{added}/refund-seats", seats=1)
        tell("  Apple refunds one of the added seats: the others stay")
        self.news("REFUND SEATS")
        self.seat_list(team, 3, ["bob", "dora", "erin"])
        self.control("notifications", bundle_id=BUNDLE, type="UNCLAIM_SEATS", environment="production", seat_ids=[seats["dora"]])
        tell("  Apple takes dora's seat back")
        self.news("UNCLAIM_SEATS")
        self.seat_list(team, 3, ["bob", "erin"])
        for member, state in (("bob", "active"), ("erin", "active"), ("dora", "withdrawn"), ("alice", "active")):
            self.has(member, TEAM, state=state)
        return "2 bought, 2 added, 1 refunded, 1 taken back"

    def give_seat(self, team, member, expected=201, **members):
        body = {"customer_id": member, "request_id": f"invitation of {member}"}
        members = members or {"seated": True}
        return self.call(f"/v1/subscriptions/{team}/seats", body, expected=expected, shown=("code", "seat_id"), **members).get("seat_id")

    def seat_list(self, team, total, members):
        page = self.call(f"/v1/subscriptions/{team}/seats", shown=("total", "claimed"), total=total)
        found = [seat["customer_id"] for seat in page["seats"] if "unclaimed_at" not in seat]
        expect(found == members, f"{total} seats, of {members}", page)

    def refund(self):
        self.news()
        self.control(f"transactions/{self.pro}/ask-for-refund")
        self.control(f"transactions/{self.pro}/refund")
        tell("  Apple refunds alice; the shop hears of it from the store, not from alice")
        self.news("CONSUMPTION_REQUEST", "REFUND")
        self.has("alice", PRO, state="withdrawn")
        self.submit("alice sends the old receipt, from before the refund", (422, "purchase_withdrawn", "refused"),
                    receipt_data=self.receipt, product_id=PRO, transaction_id=self.pro, customer_id="alice")
        self.control("clock", time=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 60)))
        self.control(f"transactions/{self.pro}/reverse-refund")
        tell("  a minute later Apple reverses the refund")
        self.news("REFUND_REVERSED")
        self.has("alice", PRO, state="active")
        return "by notification; the old receipt is refused"

    def token(self):
        token = "6f1b5b5e-3c1e-4c0f-9f0a-0d7f4c1e2a3b"
        transaction, evidence = self.buy(COINS, "carol", quantity=3, app_account_token=token)
        purchase = {"product_id": COINS, "transaction_id": transaction}
        self.news("ONE_TIME_CHARGE")
        tell("  mallory copies carol's app receipt, which names no customer, and claims it first")
        self.submit("carol's receipt, for mallory", ACCEPTED, receipt_data=evidence["app_receipt"], customer_id="mallory", **purchase)
        self.call("/v1/customers/mallory/consume", {"product_id": COINS, "quantity": 2, "consumption_id": "match-1"},
                  shown=("balance",), balance=1)
        self.call("/v1/customers/carol/app_account_token", {"app_account_token": token}, "PUT", shown=("app_account_token",))
        self.submit("carol's signed transaction, which carries her token", ACCEPTED, signed_transaction=evidence["signed_transaction"],
                    customer_id="carol", **purchase)
        self.has("carol", COINS, balance=3)
        self.has("mallory", COINS, shortfall=2)
        return "carol has 3 coins, mallory owes 2"

    def paid_without_a_claim(self):
        order = self.order(COINS, "carol")
        self.buy(COINS, "carol", app_account_token=order["app_account_token"])
        tell("  carol's phone loses the network before the app can submit anything")
        self.news("ONE_TIME_CHARGE")
        self.call(f"/v1/orders/{order['order_id']}", shown=("status",), status="paid")
        return "by ONE_TIME_CHARGE; the phone was offline"

    def tester(self):
        transaction, evidence = self.buy(PRO, "reviewer")
        self.submit("the reviewer's purchase, which cost nothing", ACCEPTED, signed_transaction=evidence["signed_transaction"],
                    product_id=PRO, transaction_id=transaction, customer_id="reviewer")
        expect(self.entitlements("reviewer")[PRO]["state"] != "active", "It does not count", None)
        self.command(["assay", "customers", "tester", "--app", "game", "reviewer", "--reason", "App Review"])
        self.has("reviewer", PRO, state="active")
        return "worth nothing until the buyer is a tester"

    def subscription(self):
        transaction, evidence = self.buy(MONTHLY, "alice")
        self.submit("the first month", ACCEPTED, signed_transaction=evidence["signed_transaction"], product_id=MONTHLY,
                    transaction_id=transaction, customer_id="alice")
        first = self.entitlements("alice")[MONTHLY]["until"]
        self.news("SUBSCRIBED INITIAL_BUY")
        self.control("clock", advance="P32D")
        tell("  32 days pass in a moment; the store renews, and nobody claims anything")
        self.news("DID_RENEW")
        expect(self.entitlements("alice")[MONTHLY]["until"] > first, "It lasts longer", None)
        self.control(f"subscriptions/{transaction}/cancel")
        tell("  alice cancels: the paid month stays hers")
        self.news("DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED")
        until = self.has("alice", MONTHLY, state="active")["until"]
        return f"cancelled, and active until {until[:10]}"

    def drop_in(self):
        receipt = self.control("receipts/refresh", bundle_id=BUNDLE, customer_id="alice")["app_receipt"]
        body, answers = {"receipt-data": receipt, "password": "the shared secret of the game"}, []
        for name, address in (("store ", self.store), ("server", self.shop)):
            answer = ask(address, "/verifyReceipt", body)[1]
            purchases = answer.get("receipt", {}).get("in_app", [])
            show(name, {"status": answer["status"], "environment": answer.get("environment"),
                        "in_app": [each["transaction_id"] for each in purchases]})
            answers.append((answer["status"], purchases))
        expect(answers[0] == answers[1] and answers[0][0] == 0, "Both answer the same", answers)
        return f"status 0 from both, {len(purchases)} equal purchases"

    def forgeries(self):
        faults = [("signed_transaction", "signed_transaction", fault)
                  for fault in ("alg-none", "own-leaf", "flipped-payload-byte", "reused-signature")]
        faults += [("app_receipt", "receipt_data", fault) for fault in ("wrong-root", "developer-certificate", "flipped-payload-byte")]
        for kind, member, fault in [*faults, ("transaction_receipt", "receipt_data", "edited-purchase-info")]:
            forged = self.control("purchases", bundle_id=BUNDLE, product_id=COINS, customer_id="mallory", faults={kind: fault})
            claim = {"product_id": COINS, "transaction_id": forged["transaction"]["transaction_id"], "customer_id": "mallory"}
            status, answer = ask(self.shop, "/v1/purchases", claim | {member: forged["evidence"][kind]}, self.client)
            tell(f"  {fault:24} -> {status} {answer.get('code')}")
            expect(status == 422 and answer.get("verdict") == "rejected", f"{fault} is refused", answer)
        self.control("customers", customer_id="nobody")
        empty = self.control("receipts/refresh", bundle_id=BUNDLE, customer_id="nobody")["app_receipt"]
        self.submit("a genuine receipt that proves no purchase, as jailbreak tweaks show it", (422, "no_purchases", "retry"),
                    receipt_data=empty, product_id=PRO, transaction_id="1", customer_id="mallory")
        self.entitlements("mallory")
        return "8 rejected, each with its reason"

    def events(self):
        kinds, cursor, page = [], "", None
        while page is None or page["events"]:
            page = self.call(f"/v1/events?limit=10{cursor}")
            for event in page["events"]:
                who, former = event.get("customer_id", "nobody"), event.get("former_customer_id")
                if former:
                    # A transfer has an event of each of the two.
                    who = f"{who} -> another" if former == who else f"{former} -> {who}"
                what = [event[name] for name in ("product_id", "transaction_id") if event.get(name)]
                numbers = [f"{name} {event[name]}" for name in ("units", "balance", "shortfall") if event.get(name) is not None]
                tell(f"  {event['type']:16} {who:18} {' '.join(what + numbers)}")
                kinds.append(event["type"])
            cursor = f"&cursor={page['next_cursor']}"
        wanted = ("order_paid order_fulfilled granted refund_requested revoked reversed transferred renewed renewal_changed seat_claimed "
                  "seat_unclaimed")
        expect(set(wanted.split()) <= set(kinds), "Each kind of change is listed", kinds)
        return f"{len(kinds)} events of {len(set(kinds))} kinds, in order"

    def record(self):
        rows = self.call("/v1/submissions?limit=100")["submissions"]
        accepted = len([row for row in rows if row["verdict"] == "accepted"])
        tell(f"  GET /v1/submissions: {len(rows)} kept, {accepted} of them accepted")
        expect(len(rows) > accepted > 0, "Every submission is kept", rows)
        self.command(["assay", "show", "--app", "game", "mallory"], lines=20)
        self.command(["assay", "audit", "verify", "--evidence", "--trust", "assay-authority/trust.pem"])
        return f"{len(rows)} submissions; computed again and audited: all equal"

    def attacks(self):
        with open(os.path.join(self.folder, "key"), "w", encoding="utf-8") as file:
            file.write(self.client)
        self.command(["assay", "simulate", "attacks", "--against", self.shop, "--bundle-id", BUNDLE, "--api-key-file", "key"])
        return "no attack gets anything"

    def stop(self):
        for server in self.servers:
            expect(server.stop() == 0, "The server stops", server.process.args)
        self.servers = []
        return ""


CHAPTERS = [
    ("A store and a server", Demo.open_store), ("A consumable, ordered and paid", Demo.consumable),
    ("A restore on a new phone", Demo.non_consumable), ("A team's seats", Demo.seats), ("A refund, and its reversal", Demo.refund),
    ("A copied receipt, and a token", Demo.token), ("An order paid without a claim", Demo.paid_without_a_claim),
    ("A purchase in the sandbox", Demo.tester), ("A subscription renews", Demo.subscription),
    ("verifyReceipt, store and server", Demo.drop_in), ("Forgeries", Demo.forgeries), ("Events", Demo.events),
    ("The record", Demo.record), ("The table of attacks", Demo.attacks), ("Both stop on SIGTERM", Demo.stop),
]


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
    find_program()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "assay.yaml"), "w", encoding="utf-8") as file:
            file.write(SETTINGS)
        demo = Demo(folder)
        try:
            for name, chapter in CHAPTERS:
                if options.keep and chapter is Demo.stop:
                    wait_for_interrupt(demo.store, demo.shop, demo.backend)
                with story.chapter(name) as result:
                    result.append(chapter(demo))
            print(f"\nEvery step had the expected result, in {time.monotonic() - began:.0f} seconds.", end="")
            print("" if options.verbose else " Each request and answer: dev/demo.py --verbose")
        except (StepFailed, ServerFailed) as error:
            sys.exit(f"\nFailed: {error}")
        finally:
            for server in demo.servers:
                server.stop()


if __name__ == "__main__":
    main()
