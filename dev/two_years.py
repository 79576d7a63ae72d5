#!/usr/bin/env python3
"""A subscription over two simulated years: the server's entitlement beside the store's truth, after each step.

    dev/two_years.py [--check]

Starts `assay dev`, lets the store live through two years, and asks the server after each step. The server learns everything from the
store's notifications; nobody claims anything. Writes docs/two-years.md, or with --check compares it. The exit status is 0 only if the
two agreed at each step.
"""

import datetime
import os
import pathlib
import sys
import tempfile

from demo import StepFailed, ask, expect
from running_server import RunningServer, ServerFailed

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "two-years.md"
BUNDLE = "com.example.app"
TOKEN = "6f1b5b5e-3c1e-4c0f-9f0a-0d7f4c1e2a3b"
START = "2030-01-31T12:00:00Z"

HEAD = f"""\
# A subscription over two years

Each row is a step in the life of one subscription in the simulated store, with the notifications that the store sent
then. The last two columns are the store's own state, and what `GET /v1/customers/ada/entitlements` of the server said
at that moment. The server learned everything from notifications: the purchase is hers by its account token, and nobody
claimed anything. Every second notification arrived twice, and those of one step in random order.

`dev/two_years.py` writes this page with `assay dev`, and with `--check` compares it. It fails if the two differ at any
step.

| date | in the store | notifications | the store | the server |
|---|---|---|---|---|
"""


def day(text):
    return text[:10]


class TwoYears:
    def __init__(self, store, server, key):
        self.store, self.server, self.key = store, server, key
        self.rows, self.known = [], 0

    def control(self, path, body=None, method=None):
        status, answer = ask(self.store, "/control/" + path, {} if body is None and method is None else body, method=method)
        expect(status in (200, 201), f"The store takes {path}", answer)
        return answer

    def run(self):
        self.open_store()
        first = self.control("purchases", {"bundle_id": BUNDLE, "product_id": "silver", "customer_id": "ada", "app_account_token": TOKEN})
        self.id = first["transaction"]["original_transaction_id"]
        subscription = f"subscriptions/{self.id}/"
        self.compare("Ada subscribes to silver, with a free week")
        self.advance("P1W", "the free week is over")
        self.advance("P2M", "two months pass")
        self.control("products/price", {"bundle_id": BUNDLE, "product_id": "silver", "price": 5990, "needs_consent": True})
        self.compare("the price rises, and Ada is asked")
        self.control(subscription + "accept-price")
        self.compare("she agrees")
        self.advance("P1M", "a month passes")
        self.control(subscription + "cancel")
        self.compare("she cancels; what is paid stays")
        self.advance("P1W", "a week passes")
        self.control(subscription + "resume")
        self.compare("she changes her mind")
        self.control(subscription + "change-product", {"product_id": "gold"})
        self.compare("she upgrades to gold, at once")
        self.advance("P1M", "a month passes")
        self.control(subscription + "change-product", {"product_id": "silver"})
        self.compare("she downgrades, from the next month on")
        self.advance("P1M", "a month passes")
        self.control(subscription + "fail-billing")
        self.compare("her card expires: 16 days of grace")
        self.advance("P1W", "a week passes")
        self.control(subscription + "recover")
        self.compare("the new card works")
        self.control(subscription + "fail-billing")
        self.compare("the payment fails again")
        self.advance("P20D", "the grace period is over")
        self.advance("P20D", "the store keeps trying")
        self.control(subscription + "recover")
        self.compare("the payment succeeds: a new month from now on")
        self.advance("P3D", "three days pass")
        present = self.control(subscription.rstrip("/"), method="GET")["transaction"]["transaction_id"]
        self.control(f"transactions/{present}/ask-for-refund")
        self.compare("she asks for a refund")
        self.control(f"transactions/{present}/refund")
        self.compare("Apple refunds this month")
        self.advance("P1D", "a day passes")
        self.control(f"transactions/{present}/reverse-refund")
        self.compare("and reverses the refund")
        self.control(subscription + "resume")
        self.compare("she turns the renewal on again")
        self.advance("P1M", "a month passes")
        self.control(subscription + "extend", {"days": 10})
        self.compare("ten days more, as compensation for an outage")
        self.advance("P6M", "six months pass")
        self.control(subscription + "cancel")
        self.compare("she cancels")
        self.advance("P2M", "two months pass")
        self.control("purchases", {"bundle_id": BUNDLE, "product_id": "gold", "customer_id": "ada", "app_account_token": TOKEN})
        self.compare("she comes back, to gold")
        self.advance("P3M", "three months pass")
        self.control("products/sale", {"bundle_id": BUNDLE, "product_id": "gold", "is_for_sale": False})
        self.compare("gold is no longer for sale")
        self.clock({"time": "2032-01-31T12:00:00Z"}, "the two years are over")

    def open_store(self):
        self.clock({"time": START, "rate": 0})
        terms = {"group_id": "pages", "period": "P1M"}
        trial = {"offer_id": "week", "kind": "introductory", "mode": "FREE_TRIAL", "period": "P1W"}
        for product, level, offers in (("gold", 1, []), ("silver", 2, [trial])):
            self.control("products", {
                "bundle_id": BUNDLE, "product_id": product, "kind": "auto-renewable", "price": 4990,
                "subscription": {**terms, "level": level, "offers": offers}})
        self.control("customers", {"customer_id": "ada", "environment": "production"})
        status, answer = ask(self.server, "/v1/customers/ada/app_account_token", {"app_account_token": TOKEN}, self.key, "PUT")
        expect(status == 200, "The token is Ada's", answer)
        self.control("faults/notifications", {"kind": "shuffle", "count": 10000})
        self.control("faults/notifications", {"kind": "repeat", "percentage": 50, "count": 10000})

    def clock(self, change, words=None):
        self.control("clock", change)
        if words:
            self.compare(words)

    def advance(self, period, words):
        self.clock({"advance": period}, words)

    def compare(self, words):
        """Waits for the notifications, and compares the two sides."""
        counts = self.control("notifications/deliver")
        expect(counts["waiting"] == counts["failed"] == 0, "All notifications were accepted", counts)
        sent = sorted(self.control("lists/notifications?limit=200", method="GET")["items"], key=lambda each: each["number"])
        types = [" ".join(each[name] for name in ("type", "subtype") if each.get(name)) for each in sent if each["number"] > self.known]
        self.known = max([self.known] + [each["number"] for each in sent])
        subscription = self.control(f"subscriptions/{self.id}", method="GET")["subscription"]
        status, answer = ask(self.server, "/v1/customers/ada/entitlements", key=self.key)
        expect(status == 200, "The entitlements are answered", answer)
        truth, found = self.truth(subscription), self.found(answer["entitlements"])
        now = day(self.control("clock", method="GET")["now"])
        print(f"{now}  {words:46}  {truth:44}  {'=' if truth == found else 'but ' + found}", flush=True)
        expect(truth == found, f"{now}, {words}: the store has '{truth}'", found)
        listed = ", ".join(f"{types.count(each)} × {each}" if types.count(each) > 1 else each for each in dict.fromkeys(types))
        self.rows.append(f"| {now} | {words} | {listed} | {truth} | {found} |")

    @staticmethod
    def truth(subscription):
        """The access that the store's state gives."""
        product, end = subscription["product_id"], subscription["expires_date"]
        match subscription["status"]:
            case "active":
                return f"{product} until {day(end)}"
            case "grace-period":
                return f"{product} until {day(subscription['grace_period_expires_date'])}, in grace"
            case "billing-retry":
                return f"no {product}: billing retry"
            case "revoked":
                return f"no {product}: revoked"
            case _:
                return f"no {product}: expired"

    @staticmethod
    def found(entitlements):
        """The access that the server gives: what is active, or else the product of the last period."""
        active = [each for each in entitlements if each["state"] == "active"]
        if active:
            grace = {"in_grace": ", in grace"}
            return "; ".join(f"{each['product_id']} until {day(each['until'])}{grace.get(each.get('reason'), '')}" for each in active)
        last = max(entitlements, key=lambda each: each.get("until") or each.get("since") or "", default=None)
        if not last:
            return "nothing"
        return f"no {last['product_id']}: {last['reason'].replace('_', ' ')}"


def main():
    program = os.environ.get("ASSAY_BIN", str(ROOT / ".build" / "debug"))
    os.environ["PATH"] = os.path.abspath(program) + os.pathsep + os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(["assay", "dev", "--port", "0", "--store-port", "0", "--no-open"], folder)
        try:
            store = server.ready.split()[-1]
            key = (pathlib.Path(folder) / "assay-dev" / "admin.key").read_text().strip()
            years = TwoYears(store, server.address, key)
            years.run()
        except StepFailed as error:
            print(f"\nFailed: {error}", file=sys.stderr)
            sys.exit(1)
        finally:
            server.stop()
    text = HEAD + "\n".join(years.rows) + "\n"
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text() != text:
            sys.exit(f"{PAGE.name} differs from this run; write it again with dev/two_years.py")
        print(f"{len(years.rows)} steps: the server agreed with the store at each, and {PAGE.name} is up to date")
    else:
        PAGE.write_text(text)
        print(f"{len(years.rows)} steps: the server agreed with the store at each; {PAGE.name} is written")


if __name__ == "__main__":
    try:
        main()
    except ServerFailed as error:
        sys.exit(str(error))
