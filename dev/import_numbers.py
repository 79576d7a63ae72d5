#!/usr/bin/env python3
"""Times `assay import` of numbers alone, and `assay backfill`, against the simulator's App Store Server API.

usage: import_numbers.py PROGRAM [--count N] [--raised N] [--kills N] [--latency-ms MS] [--tolerance PERCENT]

First N numbers (1,000) at Apple's limits, which the simulator enforces: a call too early would get 429. Each answer takes
MS (100), as over a network. Then the raised number (100,000; 0 for none) with limits that are a hundred times as high on
both sides; this import is killed with SIGKILL as often as asked (3), and run again. After each import the record is
audited, and the purchases of the ledger are compared with those that the store sold.

The import prints the time that it expects before the first call, and again when its pace is another one. The status is
1 if the first import took longer than the first time by more than the tolerance (10 %), if the last part of the raised
import took longer or shorter than the last time that it printed by more than that, or if a purchase is missing or there
twice.
"""
import argparse
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

from running_server import RunningServer

BUNDLE = "com.example.app"


class Store:
    """A simulated store that sells gold to crowds."""

    def __init__(self, program, folder):
        self.server = RunningServer([program, "simulate", "--port", "0"], folder)
        self.post("apps", {"bundle_id": BUNDLE})
        self.post("products", {"bundle_id": BUNDLE, "product_id": "gold", "kind": "auto-renewable",
                               "subscription": {"group_id": "club", "period": "P1M"}})
        key = self.post("api-keys", {})
        with open(os.open(f"{folder}/AuthKey.p8", os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(key["private_key"])
        self.key = key

    def post(self, path, body):
        request = urllib.request.Request(
            f"{self.server.address}/control/{path}", json.dumps(body).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)

    def sell(self, count, prefix, file):
        """Sells to a crowd, and writes a row of each purchase: the numbers that another service would hand out."""
        sold = self.post("purchases/crowd", {"bundle_id": BUNDLE, "product_id": "gold", "prefix": prefix,
                                             "count": count, "environment": "production"})["purchases"]
        with open(file, "w", encoding="utf-8") as rows:
            rows.write("customer_id,original_transaction_id\n")
            rows.writelines(f"user-{one['customer_id']},{one['transaction_id']}\n" for one in sold)


def settings(store, percent):
    return f"""server:
  trust: [assay-authority/trust.pem]
app_store:
  server_api_production: {store.server.address}
  server_api_sandbox: {store.server.address}/sandbox
  server_api_limit_percent: {percent}
apps:
  game:
    bundle_ids: {BUNDLE}
    products: {{ gold: {{ kind: auto_renewable }} }}
    app_store_keys:
      - {{ issuer_id: {store.key['issuer_id']}, key_id: {store.key['key_id']}, private_key_file: AuthKey.p8 }}
"""


class Ledger:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *arguments, kill_after=None):
        """Runs a command. Returns its status, its output and its time; it is killed after some purchases are there."""
        start = time.monotonic()
        with open(f"{self.folder}/report", "w+", encoding="utf-8") as report:
            process = subprocess.Popen([self.program, *arguments], cwd=self.folder, stdout=report, stderr=report)
            while process.poll() is None:
                if kill_after is not None and self.count("transactions") >= kill_after:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    break
                time.sleep(0.1)
            report.seek(0)
            return process.returncode, report.read(), time.monotonic() - start

    def count(self, table):
        with sqlite3.connect(f"file:{self.folder}/assay.sqlite?mode=ro", uri=True, timeout=60) as database:
            return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]

    def audit(self):
        status, output, _ = self.run("audit", "verify")
        if status != 0:
            sys.exit(f"the audit found differences:\n{output}")


def seconds(text):
    """The duration in a text such as `21 s` or `35 min 5 s`."""
    units = {"h": 3600, "min": 60, "s": 1, "ms": 0.001}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([0-9.]+) (h|min|ms|s)\b", text))


def expected(output):
    found = re.search(r"fetching them takes (.*) at Apple's limits", output)
    if not found:
        sys.exit(f"the import does not say how long it takes:\n{output}")
    return seconds(found.group(1)), found.group(1)


def measured(output):
    """The whole time by the last pace that the import printed; None if the first time was right."""
    found = re.findall(r"numbers took (.*); at this pace the rest takes (.*)", output)
    return seconds(found[-1][0]) + seconds(found[-1][1]) if found else None


def check(ledger, count, status, output):
    if status != 0:
        sys.exit(f"the import ended with {status}:\n{output[-2000:]}")
    if ledger.count("transactions") != count:
        sys.exit(f"the ledger has {ledger.count('transactions')} purchases of {count}")
    ledger.audit()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--raised", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--latency-ms", type=int, default=100)
    parser.add_argument("--tolerance", type=float, default=10)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    importing, failures = ("import", "--app", "game"), []
    with tempfile.TemporaryDirectory(prefix="assay-numbers-") as folder:
        store, ledger = Store(program, folder), Ledger(program, folder)
        try:
            def configure(percent):
                with open(f"{folder}/assay.yaml", "w", encoding="utf-8") as file:
                    file.write(settings(store, percent))
                RunningServer([program, "serve", "--port", "0", "--log-level", "error"], folder).stop()

            configure(100)
            store.sell(options.count, "first", f"{folder}/first.csv")
            if options.latency_ms:
                store.post("faults/server-api", {
                    "kind": "latency", "milliseconds": options.latency_ms, "count": 2 * options.count + 100})
            status, output, taken = ledger.run(*importing, "first.csv")
            check(ledger, options.count, status, output)
            predicted, words = expected(output)
            print(f"{options.count} numbers at Apple's limits, {options.latency_ms} ms a call: expected {words}, "
                  f"took {taken:.1f} s ({(taken / predicted - 1) * 100:+.0f} %)", flush=True)
            if taken > predicted * (1 + options.tolerance / 100):
                failures.append("the import took longer than it said")
            status, output, taken = ledger.run("backfill", "--app", "game", "--all")
            print(f"backfill of all: {taken:.1f} s\n{output.strip()}", flush=True)
            if status != 0:
                failures.append("the backfill failed")
            ledger.audit()

            if options.raised:
                configure(10_000)
                store.post("server-api/limits", {"factor": 100})
                store.sell(options.raised, "second", f"{folder}/second.csv")
                total, known = 0.0, options.count
                for kill in range(options.kills):
                    _, output, taken = ledger.run(
                        *importing, "second.csv", kill_after=known + options.raised * (kill + 1) // (options.kills + 2))
                    total += taken
                    print(f"killed after {taken:.1f} s with {ledger.count('transactions') - known} purchases", flush=True)
                status, output, taken = ledger.run(*importing, "second.csv")
                check(ledger, known + options.raised, status, output)
                _, words = expected(output)
                pace = measured(output)
                print(f"{options.raised} numbers, limits raised a hundredfold: expected {words} if every call is in time, "
                      f"took {total + taken:.1f} s, {taken:.1f} s of it after the last kill", flush=True)
                print("\n".join(line for line in output.splitlines() if "at this pace" in line), flush=True)
                if pace is not None:
                    print(f"by its measured pace {pace:.1f} s ({(taken / pace - 1) * 100:+.0f} %)", flush=True)
                if abs(taken / (pace or expected(output)[0]) - 1) > options.tolerance / 100:
                    failures.append("the raised import took another time than it said at last")
                status, output, taken = ledger.run(*importing, "second.csv")
                check(ledger, known + options.raised, status, output)
                print(f"the same again: {taken:.1f} s, nothing is asked", flush=True)
        finally:
            store.server.stop()
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
