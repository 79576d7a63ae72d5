#!/usr/bin/env python3
"""A subscription over two simulated years: what the server says beside the store's truth, after each step.

    dev/two_years.py [--drop-in] [--check]

Starts `assay dev`, lets the store live through two years, and asks after each step. The server learns everything from the store's
notifications; nobody claims anything. Asked are the entitlements; with --drop-in verifyReceipt of the store and of the server with
the receipt of the first purchase, which is never renewed, through inapppy and itunes-iap of PyPI, and every value of
latest_receipt_info and pending_renewal_info is compared. At the end every figure of the two years is counted again (dev/recount.py).
Writes the page of docs/, or with --check compares it. The exit status is 0 only if the two agreed at each step.
"""
import datetime
import os
import pathlib
import sys
import tempfile

from demo import StepFailed, ask, expect
from recount import DUCKDB, Different, recount
from servers import RunningServer, ServerFailed, find_program, with_packages

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "transcripts.md"
BUNDLE = "com.example.app"
TOKEN = "6f1b5b5e-3c1e-4c0f-9f0a-0d7f4c1e2a3b"
START, END = "2030-01-31T12:00:00Z", "2032-01-31T12:00:00Z"

# A step: what it asks of the store, with `S` for the subscription and `T` for its present transaction, and the words of the page. A
# step without words is not compared.
LIFE = [
    ("purchase silver", None, "Ada subscribes to silver, with a free week"),
    ("clock", {"advance": "P1W"}, "the free week is over"),
    ("clock", {"advance": "P2M"}, "two months pass"),
    ("products/price", {"bundle_id": BUNDLE, "product_id": "silver", "price": 5990, "needs_consent": True}, "the price rises, and Ada is asked"),
    ("S/accept-price", {}, "she agrees"),
    ("clock", {"advance": "P1M"}, "a month passes"),
    ("S/cancel", {}, "she cancels; what is paid stays"),
    ("clock", {"advance": "P1W"}, "a week passes"),
    ("S/resume", {}, "she changes her mind"),
    ("S/change-product", {"product_id": "gold"}, "she upgrades to gold, at once"),
    ("clock", {"advance": "P1M"}, "a month passes"),
    ("S/change-product", {"product_id": "silver"}, "she downgrades, from the next month on"),
    ("clock", {"advance": "P1M"}, "a month passes"),
    ("S/fail-billing", {}, "her card expires: 16 days of grace"),
    ("clock", {"advance": "P1W"}, "a week passes"),
    ("S/recover", {}, "the new card works"),
    ("S/fail-billing", {}, "the payment fails again"),
    ("clock", {"advance": "P20D"}, "the grace period is over"),
    ("clock", {"advance": "P20D"}, "the store keeps trying"),
    ("S/recover", {}, "the payment succeeds: a new month from now on"),
    ("clock", {"advance": "P3D"}, "three days pass"),
    ("T/ask-for-refund", {}, "she asks for a refund"),
    ("T/refund", {}, "Apple refunds this month"),
    ("clock", {"advance": "P1D"}, "a day passes"),
    ("T/reverse-refund", {}, "and reverses the refund"),
    ("S/resume", {}, "she turns the renewal on again"),
    ("clock", {"advance": "P1M"}, "a month passes"),
    ("S/extend", {"days": 10}, "ten days more, as compensation for an outage"),
    ("clock", {"advance": "P6M"}, "six months pass"),
    ("S/cancel", {}, "she cancels"),
    ("clock", {"advance": "P2M"}, "two months pass"),
    ("purchase gold", None, "she comes back, to gold"),
    ("clock", {"advance": "P3M"}, "three months pass"),
    ("products/sale", {"bundle_id": BUNDLE, "product_id": "gold", "is_for_sale": False}, "gold is no longer for sale"),
    ("clock", {"time": END}, "the two years are over"),
]


def day(text):
    return text[:10]


def moment_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def moment_in(entry, name):
    """A time of an entry of verifyReceipt, if it has one."""
    key = f"{name}_ms"
    return datetime.datetime.fromtimestamp(int(entry[key]) / 1000, datetime.timezone.utc) if key in entry else None


class TwoYears:
    """The entitlements of the server beside the store's state."""

    title = "A subscription over two years"
    names_steps = True
    head = """
Each row is a step in the life of one subscription in the simulated store that changed something, with the notifications
that the store sent then. The last column is the store's own state, and what `GET /v1/customers/ada/entitlements` of the
server said at that moment. The server learned everything from notifications: nobody claimed anything. Every second
notification arrived twice, and those of one step in random order. `dev/two_years.py` writes this section with
`assay dev`, and fails if the two differ at any step.

| date | in the store | notifications | the store and the server say |
|---|---|---|---|
"""

    def __init__(self, store, server, key):
        self.store, self.server, self.key = store, server, key
        self.rows, self.known, self.id, self.receipt, self.refunded = [], 0, None, None, None

    def control(self, path, body=None):
        status, answer = ask(self.store, "/control/" + path, body)
        expect(status in (200, 201), f"The store takes {path}", answer)
        return answer

    def run(self):
        self.control("clock", {"time": START, "rate": 0})
        terms = {"group_id": "pages", "period": "P1M"}
        trial = {"offer_id": "week", "kind": "introductory", "mode": "FREE_TRIAL", "period": "P1W"}
        for product, level, offers in (("gold", 1, []), ("silver", 2, [trial])):
            self.control("products", {"bundle_id": BUNDLE, "product_id": product, "kind": "auto-renewable", "price": 4990,
                                      "subscription": {**terms, "level": level, "offers": offers}})
        self.control("customers", {"customer_id": "ada", "environment": "production"})
        status, answer = ask(self.server, "/v1/customers/ada/app_account_token", {"app_account_token": TOKEN}, self.key, "PUT")
        expect(status == 200, "The token is Ada's", answer)
        self.control("faults/notifications", {"kind": "shuffle", "count": 10000})
        self.control("faults/notifications", {"kind": "repeat", "percentage": 50, "count": 10000})
        shown = None
        for path, body, words in LIFE:
            if path.startswith("purchase "):
                bought = self.control("purchases", {"bundle_id": BUNDLE, "product_id": path.split()[1], "customer_id": "ada",
                                                    "app_account_token": TOKEN})
                self.id = self.id or bought["transaction"]["original_transaction_id"]
                self.receipt = self.receipt or bought["evidence"]["app_receipt"]
            else:
                if path.startswith("T/"):
                    # The month that she asks about is the one that is refunded, and reversed.
                    self.refunded = self.refunded or self.control(f"subscriptions/{self.id}")["transaction"]["transaction_id"]
                places = {"S": f"subscriptions/{self.id}", "T": f"transactions/{self.refunded}"}
                self.control("/".join(places.get(part, part) for part in path.split("/")), body)
            counts = self.control("notifications/deliver", {})
            expect(counts["waiting"] == counts["failed"] == 0, "All notifications were accepted", counts)
            now = self.control("clock")["now"]
            left, truth, found, right = self.compare(now)
            print(f"{day(now)}  {words:46}  {truth:44}  {'=' if truth == found else 'but ' + found}", *right, flush=True)
            expect(truth == found, f"{day(now)}, {words}: the store has '{truth}'", found)
            # The page has the steps that changed something.
            if any(left) or truth != shown:
                self.rows.append("| " + " | ".join([day(now), *[words] * self.names_steps, *left, truth, *right]) + " |")
            shown = truth

    def compare(self, now):
        """The cells before, the store's truth, what the server says, and the cells after."""
        sent = sorted(self.control("lists/notifications?limit=200")["items"], key=lambda each: each["number"])
        types = [" ".join(each[name] for name in ("type", "subtype") if each.get(name)) for each in sent if each["number"] > self.known]
        self.known = max([self.known] + [each["number"] for each in sent])
        listed = ", ".join(f"{types.count(each)} × {each}" if types.count(each) > 1 else each for each in dict.fromkeys(types))
        status, answer = ask(self.server, "/v1/customers/ada/entitlements", key=self.key)
        expect(status == 200, "The entitlements are answered", answer)
        return [listed], self.truth(self.control(f"subscriptions/{self.id}")["subscription"]), self.found(answer["entitlements"]), []

    @staticmethod
    def truth(subscription):
        """The access that the store's state gives."""
        product = subscription["product_id"]
        match subscription["status"]:
            case "active":
                return f"{product} until {day(subscription['expires_date'])}"
            case "grace-period":
                return f"{product} until {day(subscription['grace_period_expires_date'])}, in grace"
            case "billing-retry" | "revoked" as state:
                return f"no {product}: {state.replace('-', ' ')}"
            case _:
                return f"no {product}: expired"

    @staticmethod
    def found(entitlements):
        """The access that the server gives: what is active, or else the product of the last period."""
        active = [each for each in entitlements if each["state"] == "active"]
        if active:
            return "; ".join(f"{each['product_id']} until {day(each['until'])}{', in grace' * (each.get('reason') == 'in_grace')}" for each in active)
        last = max(entitlements, key=lambda each: each.get("until") or each.get("since") or "", default=None)
        return f"no {last['product_id']}: {last['reason'].replace('_', ' ')}" if last else "nothing"


class DropIn(TwoYears):
    """The answers of verifyReceipt: of the server beside those of the store."""

    title = "verifyReceipt over two years"
    head = """
The same life: after each step the backend sends the receipt of the first purchase to `verifyReceipt`, once to the
simulated store and once to the drop-in, by inapppy and by itunes-iap. The verdicts are those of a backend that looks at
the newest period, its cancellation and the grace period, by both clients and both answers; rows are the steps above
that changed one. The last column counts the values of `latest_receipt_info` and `pending_renewal_info` that are equal
in both answers. Only dates and reason of the cancellation, and `is_upgraded`, of the period that an upgrade ended
differ: Apple signs it again only in answers of the App Store Server API. `Assay-State` is `live` in each answer.
`dev/two_years.py --drop-in` writes this section, and fails if a verdict differs.

| date | both answer | equal values |
|---|---|---|
"""
    names_steps = False

    def compare(self, now):
        import requests
        truth, theirs = self.verdict(self.store, now)
        found, ours = self.verdict(self.server, now)
        state = requests.post(self.server + "/verifyReceipt", json={"receipt-data": self.receipt}, timeout=30).headers.get("Assay-State")
        same, different = self.values(theirs, ours)
        # The clock stands still between steps. Of two renewal infos of the same millisecond, nobody knows which is newer.
        later = moment_of(now) + datetime.timedelta(seconds=1)
        self.control("clock", {"time": later.strftime("%Y-%m-%dT%H:%M:%SZ")})
        expect(state == "live", "The answer has everything that happened", state)
        expect(set(different) <= {"cancellation_date", "cancellation_reason", "is_upgraded"}, "Only an upgraded period differs", different)
        return [], truth, found, [str(same)]

    def verdict(self, address, now):
        """The verdict of a backend, which is the same by both clients, and the answer."""
        from interop.receipts import both
        answer, response = both(address, self.receipt)
        moment = moment_of(now)
        found, typed = self.judged(moment, *self.by_keys(answer)), self.judged(moment, *self.by_types(response))
        expect(found == typed, f"itunes-iap has the verdict '{found}'", typed)
        return found, answer

    @staticmethod
    def judged(moment, product, end, cancelled, grace, is_renewing, is_retrying, intent):
        if cancelled:
            return f"no {product}: cancelled {cancelled:%Y-%m-%d}"
        if moment < end:
            return f"{product} until {end:%Y-%m-%d}, then {'renews' if is_renewing else 'ends'}"
        if grace and moment < grace:
            return f"{product} in grace until {grace:%Y-%m-%d}"
        return f"no {product}: billing retry" if is_retrying else f"no {product}: expired {end:%Y-%m-%d}, intent {intent}"

    @staticmethod
    def by_keys(answer):
        """The newest period, from the JSON that inapppy returns."""
        newest = max(answer["latest_receipt_info"], key=lambda each: int(each["purchase_date_ms"]))
        renewal = next((each for each in answer.get("pending_renewal_info", [])
                        if each["original_transaction_id"] == newest["original_transaction_id"]), {})
        return (newest["product_id"], moment_in(newest, "expires_date"), moment_in(newest, "cancellation_date"),
                moment_in(renewal, "grace_period_expires_date"), renewal.get("auto_renew_status") == "1",
                renewal.get("is_in_billing_retry_period") == "1", renewal.get("expiration_intent", "none"))

    @staticmethod
    def by_types(response):
        """The same from the typed values of itunes-iap, which reads every value that it has a type for."""
        renewals = response.pending_renewal_info if "pending_renewal_info" in response else []
        for entry in [*response.receipt.in_app, *response.latest_receipt_info, *renewals]:
            for name in type(entry).__FIELD_ADAPTERS__:
                if name in entry:
                    expect(getattr(entry, name) is not None, f"itunes-iap reads {name}", entry)
        newest = max(response.latest_receipt_info, key=lambda each: each.purchase_date)
        renewal = next((each for each in renewals if each["original_transaction_id"] == newest.original_transaction_id), {})
        typed = lambda each, name: getattr(each, name) if name in each else None
        # It has no type for the grace period.
        return (newest.product_id, newest.expires_date, typed(newest, "cancellation_date"), moment_in(renewal, "grace_period_expires_date"),
                typed(renewal, "auto_renew_status") == 1, typed(renewal, "is_in_billing_retry_period") == 1,
                typed(renewal, "expiration_intent") or "none")

    @staticmethod
    def values(theirs, ours):
        """The number of equal values, and the keys of the others."""
        same, different = 0, []
        for member, key in (("latest_receipt_info", "transaction_id"), ("pending_renewal_info", "original_transaction_id")):
            left, right = ({each[key]: each for each in answer.get(member, [])} for answer in (theirs, ours))
            for name in sorted(set(left) | set(right)):
                if name not in left or name not in right:
                    different.append(f"{member} without {'the store' if name in right else 'ours'}")
                    continue
                for value in sorted(set(left[name]) | set(right[name])):
                    if left[name].get(value) == right[name].get(value):
                        same += 1
                    elif value not in different and not value.endswith(("_ms", "_pst")):
                        different.append(value)
        return same, different


def main():
    kind, is_check = DropIn if "--drop-in" in sys.argv else TwoYears, "--check" in sys.argv
    # The interop clients were installed with DuckDB. CI must not pass without it.
    has_duckdb = kind is DropIn or with_packages("recount", DUCKDB, is_needed=bool(os.environ.get("CI")))
    find_program()
    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(["assay", "dev", "--port", "0", "--store-port", "0", "--no-open"], folder)
        try:
            key = pathlib.Path(folder, "assay-dev/admin.key").read_text().strip()
            years = kind(server.ready.split()[-1], server.address, key)
            years.run()
            numbers, rows = recount(folder, ["--folder", f"{folder}/assay-dev"], day(START), day(END), duckdb=has_duckdb)
            print(f"{numbers} figures of {rows} transactions are equal in the report and in the recount")
            if has_duckdb:
                print("DuckDB reads the exports")
        finally:
            server.stop()
    before, after = PAGE.read_text().split(f"\n## {kind.title}\n", 1)
    after = after.partition("\n## ")
    text = f"{before}\n## {kind.title}\n{kind.head}" + "\n".join(years.rows) + "\n" + "".join(after[1:])
    if not is_check:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        sys.exit(f"'{kind.title}' of {PAGE.name} differs from this run; write it again with dev/two_years.py")
    print(f"{len(LIFE)} steps: the server agreed with the store at each, and {PAGE.name} is {'up to date' if is_check else 'written'}")


if __name__ == "__main__":
    try:
        main()
    except (StepFailed, ServerFailed, Different) as error:
        sys.exit(f"\nFailed: {error}")
