#!/usr/bin/env python3
"""Counts the figures of `assay report` again, from what `assay export` writes.

    dev/recount.py [FOLDER]     a folder of `assay dev`; without it, one of `assay simulate demo-data`

Each figure of each period is counted by its definition in docs/figures.md, in another way than the program counts, and must be equal. CSV
and NDJSON must have the same rows, also as DuckDB (from PyPI) reads them. dev/two_years.py counts two simulated years again by this.
"""
import collections
import csv
import datetime
import decimal
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from servers import find_program, with_packages

DUCKDB = "duckdb==1.5.6"
DAY, GAP = datetime.timedelta(days=1), datetime.timedelta(minutes=5)
TIMES = ("purchased_at", "expires_at", "grace_until", "retry_until", "upgraded_at", "revoked_at")
WITHOUT_MINOR_UNIT = {"JPY", "KRW", "VND", "CLP"}


class Different(Exception):
    """A figure differs."""


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None


def assay(*words):
    return subprocess.run(["assay", *words], check=True, capture_output=True, text=True).stdout


class Purchase:
    def __init__(self, row):
        self.__dict__.update(row)
        self.start, self.end, grace, retry, upgraded, revoked = (moment(row[name]) for name in TIMES)
        self.revoked, self.quantity = revoked, int(row["quantity"])
        self.is_trial = row["offer_mode"] == "FREE_TRIAL" or str(row["offer_type"]) == "1"
        if self.end:
            self.paid = min(filter(None, (self.end, upgraded, revoked)))
            self.covered = (grace or self.end) if self.paid == self.end else self.paid
            self.pursued = max(self.covered, retry or self.covered) if self.paid == self.end else self.paid

    @property
    def order(self):
        return self.start, self.paid, self.transaction_id


class Recount:
    """The figures of the purchases that count."""

    def __init__(self, rows, product=None):
        self.product = product
        self.bought = [Purchase(row) for row in rows if row["environment"] == "Production" and row["ownership"] == "bought" and not row["copy_of"]]
        self.originals = collections.defaultdict(list)
        for each in self.bought:
            if each.type == "auto_renewable" and each.start and each.end:
                self.originals[each.original_transaction_id].append(each)
        self.moments = {name: [] for name in ("trials", "conversions", "churned")}
        for periods in self.originals.values():
            periods.sort(key=lambda each: each.order)
            self.read(periods)

    def read(self, periods):
        for former, each in zip([None, *periods], periods):
            if each.is_trial and not (former and former.is_trial):
                self.moments["trials"].append((each.start, each, None))
            if former and former.is_trial and not each.is_trial:
                self.moments["conversions"].append((each.start, each, None))
        # An end is where no other period goes on.
        ends = {}
        for each in periods:
            if not any(other.start <= each.pursued + GAP and other.pursued > each.pursued for other in periods):
                ends[each.pursued] = each
        for end, each in ends.items():
            self.moments["churned"].append((end, each, each.end_reason or "news_missing"))
        for former, each in itertools.pairwise(periods):
            goes_on = not any(former.start <= end and end + GAP < each.start for end in ends)
            if self.product and goes_on and former.product_id != each.product_id:
                self.moments["churned"].append((each.start, former, "product_changed"))

    def counted(self, each):
        return not self.product or each.product_id == self.product

    def figures(self, start, end):
        def within(time):
            return time and start <= time < end
        found = {name: 0 for name in ("active_subscriptions", "in_grace", "in_retry")}
        for periods in self.originals.values():
            covering = [each for each in periods if each.start <= end < each.covered]
            retried = [each for each in periods if each.start <= end < each.pursued]
            if covering and self.counted(covering[-1]):
                found["active_subscriptions"] += 1
                found["in_grace"] += end >= covering[-1].paid
            elif not covering and retried and self.counted(retried[-1]):
                found["in_retry"] += 1
        for name in ("trials", "conversions"):
            found[name] = sum(within(time) and self.counted(each) or False for time, each, _ in self.moments[name])
        found["churned"] = dict(collections.Counter(
            reason for time, each, reason in self.moments["churned"] if within(time) and self.counted(each)))
        found["refunds"] = sum(bool(within(each.revoked)) for each in self.bought if self.counted(each))
        bought = [each for each in self.bought if within(each.start) and self.counted(each)]
        found["units"] = sum(each.quantity for each in bought)
        gross = collections.Counter()
        for each in bought:
            if each.amount and each.currency:
                gross[each.currency, each.storefront or None] += decimal.Decimal(each.amount)
        found["gross"] = {key: amount for key, amount in gross.items()}
        return found


def same(row):
    """A row as CSV has it."""
    return {name: "" if value is None else str(value) for name, value in row.items()}


def export(folder, options, kind):
    """The rows of an export, which are the same in both formats."""
    files = [pathlib.Path(folder, f"{kind}.{name}") for name in ("csv", "ndjson")]
    for file in files:
        assay("export", kind, *options, "--format", file.suffix[1:], "-o", str(file))
    rows = [json.loads(line) for line in files[1].read_text().splitlines()]
    with open(files[0], newline="") as file:
        if list(csv.DictReader(file)) != [same(row) | {name: str(value).lower() for name, value in row.items() if isinstance(value, bool)} for row in rows]:
            raise Different(f"{kind}: CSV and NDJSON have other rows")
    return files, rows


def read_by_duckdb(files, rows):
    """What DuckDB finds in the files by itself: the number of rows, the ids, and for purchases the sums of money."""
    import duckdb
    for file, reading in zip(files, ("read_csv(?, sample_size=-1)", "read_json(?, format='newline_delimited', sample_size=-1)")):
        key = "id" if "id" in rows[0] else "product_id"
        found = duckdb.execute(f"SELECT {key}::VARCHAR FROM {reading}", [str(file)]).fetchall()
        if sorted(each for each, in found) != sorted(row[key] for row in rows):
            raise Different(f"DuckDB reads other rows of {file.name}")
        if "amount" in rows[0] and "quantity" in rows[0]:
            sums = duckdb.execute(f"SELECT currency, sum(amount::DECIMAL(18, 3)), min(purchased_at::TIMESTAMPTZ) IS NOT NULL FROM {reading} "
                                  "WHERE currency IS NOT NULL GROUP BY currency", [str(file)]).fetchall()
            own = collections.Counter()
            for row in rows:
                own[row["currency"]] += decimal.Decimal(row["amount"] or 0)
            if {currency: amount for currency, amount, _ in sums} != {currency: amount for currency, amount in own.items() if currency}:
                raise Different(f"DuckDB sums {file.name} to {sums}, not {own}")


def compare(line, own):
    """Raises unless a line of the report has the same numbers."""
    gross = {(each["currency"], each.get("storefront")): each["amount"] for each in line["gross"]}
    for (currency, _), amount in gross.items():
        digits = len(amount.partition(".")[2])
        if digits < 2 and currency not in WITHOUT_MINOR_UNIT or digits and currency in WITHOUT_MINOR_UNIT:
            raise Different(f"{amount} has not the digits of {currency}")
    found = {name: line[name] for name in own if name != "gross"} | {"gross": {key: decimal.Decimal(amount) for key, amount in gross.items()}}
    for name, value in own.items():
        if found[name] != value:
            raise Different(f"{name} from {line['from']} to {line['to']}: the report has {found[name]}, the recount {value}")


def recount(folder, options, first, last, duckdb=False):
    """Compares every figure of every day and month; returns how many were compared."""
    with tempfile.TemporaryDirectory() as place:
        exports = {kind: export(place, options, kind) for kind in ("purchases", "entitlements", "events")}
        for files, rows in exports.values():
            if duckdb and rows:
                read_by_duckdb(files, rows)
    purchases, numbers = exports["purchases"][1], 0
    names = {row["transaction_id"]: row["customer_id"] for row in purchases}
    for row in exports["entitlements"][1]:
        if row["transaction_id"] and row["state"] == "active" and names.get(row["transaction_id"]) != row["customer_id"]:
            raise Different(f"the owner of {row['transaction_id']} is {names[row['transaction_id']]} and {row['customer_id']}")
    for product, step in itertools.product([None, *sorted({row["product_id"] for row in purchases})], ("day", "month")):
        own = Recount(purchases, product)
        more = ["--product", product] if product else []
        lines = [json.loads(line) for line in assay("report", *options, "--from", first, "--to", last, "--by", step, "--json", *more).splitlines()]
        for line in lines:
            figures = own.figures(moment(line["from"]), moment(line["to"]))
            compare(line, figures)
            numbers += sum(len(value) if isinstance(value, dict) else 1 for value in figures.values())
        totals = {name: sum(line[name] for line in lines) for name in ("units", "trials", "conversions", "refunds")}
        if not product and totals["units"] != sum(each.quantity for each in own.bought):
            raise Different(f"the report has {totals['units']} units of all that was bought")
    return numbers, len(purchases)


def main():
    with_packages("recount", DUCKDB)
    find_program()
    with tempfile.TemporaryDirectory() as place:
        folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(place, "demo")
        if len(sys.argv) < 2:
            assay("simulate", "demo-data", "--customers", "60", "--folder", folder, "--quiet")
        today = datetime.datetime.now(datetime.timezone.utc).date()
        numbers, rows = recount(place, ["--folder", folder], str(today - 400 * DAY), str(today), duckdb=True)
    print(f"{numbers} figures of {rows} purchases are equal in the report and in the recount; DuckDB reads the exports")


if __name__ == "__main__":
    try:
        main()
    except Different as error:
        sys.exit(f"Failed: {error}")
