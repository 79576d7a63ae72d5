#!/usr/bin/env python3
"""verifyReceipt over two simulated years: the drop-in's answers beside the store's own, read by two clients from PyPI.

    pip install inapppy itunes-iap
    dev/interop/two_years.py [--check]

Lives the life of dev/two_years.py. After each step it sends the receipt of the first purchase, which is never renewed, to the store's
verifyReceipt and to the drop-in, through inapppy and itunes-iap, and compares the verdicts of a subscription backend and every value of
latest_receipt_info and pending_renewal_info. Writes docs/drop-in-two-years.md, or with --check compares it. The exit status is 0 only if
the verdicts are the same at each step.
"""

import datetime
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "dev"))

import itunesiap
import itunesiap.request
import requests
from inapppy import AppStoreValidator

from demo import StepFailed, expect
from running_server import RunningServer, ServerFailed
from two_years import TwoYears, day

PAGE = ROOT / "docs" / "drop-in-two-years.md"

HEAD = """\
# verifyReceipt over two years

The life of [a subscription over two years](two-years.md), asked another way: after each step the app's backend sends
the receipt of the first purchase, which is as old as the life, to `verifyReceipt`, once to the simulated store and once
to the drop-in. inapppy and itunes-iap, unmodified, read both answers. The verdicts are those of a backend that looks at
the newest period, its cancellation and the grace period; they are reached twice, from the JSON that inapppy returns and
from the typed values of itunes-iap, and have to be the same. The last column counts the values of `latest_receipt_info`
and `pending_renewal_info` that are the same in both answers, and names those that differ.

The drop-in learned everything from the store's notifications, of which every second one arrived twice, and those of one
step in random order. The values that differ are those of the period that an upgrade ended: notifications carry the
new period, and Apple signs the old one again only in answers of the App Store Server API.

`dev/interop/two_years.py` writes this page with `assay dev`, and with `--check` compares it. It fails if a verdict
differs.

| date | in the store | the store answers | the drop-in answers | `Assay-State` | values |
|---|---|---|---|---|---|
"""


class Validator(AppStoreValidator):
    """inapppy at another address."""

    def __init__(self, url):
        self.address = url
        super().__init__(auto_retry_wrong_env_request=False)

    def _change_url_by_sandbox(self):
        self.url = self.address


class DropInYears(TwoYears):
    receipt = None

    def control(self, path, body=None, method=None):
        answer = super().control(path, body, method)
        if path == "purchases" and self.receipt is None:
            self.receipt = answer["evidence"]["app_receipt"]
        return answer

    def compare(self, words):
        counts = self.control("notifications/deliver")
        expect(counts["waiting"] == counts["failed"] == 0, "All notifications were accepted", counts)
        now_text = self.control("clock", method="GET")["now"]
        store, server = (address + "/verifyReceipt" for address in (self.store, self.server))
        truth, theirs = self.verdict(store, now_text)
        found, ours = self.verdict(server, now_text)
        state = requests.post(server, json={"receipt-data": self.receipt}, timeout=30).headers.get("Assay-State")
        same, different = self.values(theirs, ours)
        now = day(now_text)
        listed = f"{same}" + (f"; other: {', '.join(f'`{key}`' for key in different)}" if different else "")
        print(f"{now}  {words:46}  {truth:44}  {'=' if truth == found else 'but ' + found}  {state}  {listed}", flush=True)
        expect(truth == found, f"{now}, {words}: the store answers '{truth}'", found)
        expect(state in ("live", "as-of-signing"), "The answer has its state", state)
        self.rows.append(f"| {now} | {words} | {truth} | {found} | {state} | {listed} |")
        # The clock stands still between steps. Of two renewal infos of the same millisecond, nobody knows which is newer.
        later = datetime.datetime.fromisoformat(now_text.replace("Z", "+00:00")) + datetime.timedelta(seconds=1)
        self.control("clock", {"time": later.strftime("%Y-%m-%dT%H:%M:%SZ")})

    def verdict(self, url, now):
        """The verdict of a backend, which is the same by both clients, and the answer."""
        answer = Validator(url).validate(self.receipt, None)
        itunesiap.request.RequestBase.PRODUCTION_VALIDATION_URL = url
        response = itunesiap.verify(self.receipt, env=itunesiap.env.production)
        expect(answer["status"] == response.status == 0, "Both clients read the answer", answer)
        moment = datetime.datetime.fromisoformat(now.replace("Z", "+00:00"))
        found, typed = self.by_keys(answer, moment), self.by_types(response, moment)
        expect(found == typed, f"itunes-iap has the verdict '{found}'", typed)
        return found, answer

    @staticmethod
    def by_keys(answer, moment):
        """The verdict from the JSON that inapppy returns."""
        newest = max(answer["latest_receipt_info"], key=lambda each: int(each["purchase_date_ms"]))
        renewal = next(
            (each for each in answer.get("pending_renewal_info", []) if each["original_transaction_id"] == newest["original_transaction_id"]), {})
        end, product, now = newest["expires_date"][:10], newest["product_id"], moment.timestamp() * 1000
        if newest.get("cancellation_date_ms"):
            return f"no {product}: cancelled {newest['cancellation_date'][:10]}"
        if now < int(newest["expires_date_ms"]):
            renews = "renews" if renewal.get("auto_renew_status") == "1" else "ends"
            return f"{product} until {end}, then {renews}"
        grace = renewal.get("grace_period_expires_date_ms")
        if grace and now < int(grace):
            return f"{product} in grace until {renewal['grace_period_expires_date'][:10]}"
        if renewal.get("is_in_billing_retry_period") == "1":
            return f"no {product}: billing retry"
        return f"no {product}: expired {end}, intent {renewal.get('expiration_intent', 'none')}"

    @staticmethod
    def by_types(response, moment):
        """The verdict from the typed values of itunes-iap, which reads every value that it has a type for."""
        renewals = response.pending_renewal_info if "pending_renewal_info" in response else []
        for entry in [*response.receipt.in_app, *response.latest_receipt_info, *renewals]:
            for name in type(entry).__FIELD_ADAPTERS__:
                if name in entry:
                    expect(getattr(entry, name) is not None, f"itunes-iap reads {name}", entry)
        newest = max(response.latest_receipt_info, key=lambda each: each.purchase_date)
        renewal = next((each for each in renewals if each["original_transaction_id"] == newest.original_transaction_id), None)
        end, product = f"{newest.expires_date:%Y-%m-%d}", newest.product_id
        if "cancellation_date" in newest:
            return f"no {product}: cancelled {newest.cancellation_date:%Y-%m-%d}"
        if moment < newest.expires_date:
            return f"{product} until {end}, then {'renews' if renewal and renewal.auto_renew_status == 1 else 'ends'}"
        # It has no type for the grace period.
        if renewal and "grace_period_expires_date_ms" in renewal and moment.timestamp() * 1000 < int(renewal["grace_period_expires_date_ms"]):
            return f"{product} in grace until {renewal['grace_period_expires_date'][:10]}"
        if renewal and "is_in_billing_retry_period" in renewal and renewal.is_in_billing_retry_period == 1:
            return f"no {product}: billing retry"
        intent = renewal.expiration_intent if renewal and "expiration_intent" in renewal else "none"
        return f"no {product}: expired {end}, intent {intent}"

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
    program = os.environ.get("ASSAY_BIN", str(ROOT / ".build" / "debug"))
    os.environ["PATH"] = os.path.abspath(program) + os.pathsep + os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(["assay", "dev", "--port", "0", "--store-port", "0", "--no-open"], folder)
        try:
            key = (pathlib.Path(folder) / "assay-dev" / "admin.key").read_text().strip()
            years = DropInYears(server.ready.split()[-1], server.address, key)
            years.run()
        except StepFailed as error:
            print(f"\nFailed: {error}", file=sys.stderr)
            sys.exit(1)
        finally:
            server.stop()
    text = HEAD + "\n".join(years.rows) + "\n"
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text() != text:
            sys.exit(f"{PAGE.name} differs from this run; write it again with dev/interop/two_years.py")
        print(f"{len(years.rows)} steps: the same verdict from both at each, and {PAGE.name} is up to date")
    else:
        PAGE.write_text(text)
        print(f"{len(years.rows)} steps: the same verdict from both at each; {PAGE.name} is written")


if __name__ == "__main__":
    try:
        main()
    except ServerFailed as error:
        sys.exit(str(error))
