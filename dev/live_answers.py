#!/usr/bin/env python3
"""Measures verifyReceipt with the ledger's state: its rate, and how long answers take while the database stands still.

usage: live_answers.py PROGRAM [--seconds N] [--rounds N] [--receipts N] [--part rates|stops]

A simulated store sells subscriptions, and the server gets the notifications of half of them. Then the receipts are sent to a server
that does not know the app, which answers from the receipt alone, and to one with SQLite and one with PostgreSQL: first those with
state, then those of which the ledger knows nothing. The rate is in requests per second of the processor, of the server and its
PostgreSQL together, so it does not depend on the client. Targets: 0.5 of the rate without state with SQLite, 0.3 with PostgreSQL, 0.9
for receipts of which nothing is known.

Then the database is stopped (SIGSTOP), locked and killed under load. Every answer must have the state in its header; the longest time is
printed beside that without state, which is the noise of the machine. Target: 60 ms more than the noise.
"""
import argparse
import asyncio
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from running_server import RunningServer

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONNECTIONS = 16
SETTINGS = """\
server:
  trust: [{trust}]
limits:
  per_address: {{ per_second: 1000000, burst: 1000000 }}
"""
APP = """\
apps:
  example:
    bundle_ids: [com.example.app]
    products: { gold: { kind: auto_renewable } }
"""


def post(address, path, body):
    request = urllib.request.Request(address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def get(address, path):
    with urllib.request.urlopen(address + path, timeout=60) as answer:
        return json.load(answer)


class Shop:
    """Receipts of the simulated store, and the notifications about the first half of them."""

    def __init__(self, program, folder, count):
        store = RunningServer([program, "simulate", "--port", "0", "--environment-names", "apple"], folder)
        try:
            post(store.address, "/control/apps", {"bundle_id": "com.example.app"})
            post(store.address, "/control/products", {
                "bundle_id": "com.example.app", "product_id": "gold", "kind": "auto-renewable",
                "subscription": {"group_id": "club", "period": "P1M"}})
            self.receipts = []
            for number in range(count):
                name = f"customer-{number}"
                post(store.address, "/control/customers", {"customer_id": name, "environment": "production"})
                bought = post(store.address, "/control/purchases", {
                    "bundle_id": "com.example.app", "product_id": "gold", "customer_id": name})
                self.receipts.append(bought["evidence"]["app_receipt"].replace("\n", ""))
            events = get(store.address, f"/control/events?limit={4 * count}")["events"]
            self.payloads = []
            for event in events:
                try:
                    payload = get(store.address, f"/control/events/{event['number']}/notification")["signed_payload"]
                except urllib.error.HTTPError:
                    continue
                self.payloads.append(payload)
            self.payloads = self.payloads[: count // 2]
            self.trust = os.path.join(folder, "assay-authority", "trust.pem")
        finally:
            store.stop()

    def requests(self, known):
        half = len(self.payloads)
        chosen = self.receipts[:half] if known else self.receipts[half:]
        return [json.dumps({"receipt-data": each}).encode() for each in chosen]


class Served:
    """A running purchase server."""

    def __init__(self, program, folder, shop, name, database, apps=APP):
        place = os.path.join(folder, name)
        os.makedirs(place, exist_ok=True)
        settings = os.path.join(place, "assay.yaml")
        pathlib.Path(settings).write_text(SETTINGS.format(trust=shop.trust) + apps)
        self.server = RunningServer(
            [program, "serve", "--config", settings, "--database", database, "--port", "0", "--log-level", "error"], place)
        self.address, self.port, self.identifier = self.server.address, self.server.port, self.server.process.pid

    def tell(self, shop):
        for payload in shop.payloads:
            post(self.address, "/notifications/v2", {"signedPayload": payload})


def ticks(processes):
    total = 0
    for process in processes:
        try:
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        except FileNotFoundError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total


def children(process):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True).stdout
    return [int(each) for each in listed.split()]


async def connection(port, bodies, deadline, start, results):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    place = start
    while time.monotonic() < deadline:
        body = bodies[place % len(bodies)]
        place += 1
        began = time.monotonic()
        writer.write(b"POST /verifyReceipt HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
        content = await reader.readexactly(length)
        state = re.search(rb"(?i)assay-state: ([a-z-]+)", head)
        results.append((time.monotonic() - began, state.group(1).decode() if state else None, b'"status":0}' in content[-12:]))
    writer.close()


def load(port, bodies, seconds, during=None):
    results = []

    async def run():
        deadline = time.monotonic() + seconds
        tasks = [connection(port, bodies, deadline, 7 * number, results) for number in range(CONNECTIONS)]
        if during:
            tasks.append(asyncio.to_thread(during))
        await asyncio.gather(*tasks)

    asyncio.run(run())
    return results


def rates(servers, bodies, seconds, rounds):
    """Requests per second of the processor of each server, in rounds that take turns, so that all have the same noise."""
    totals = [[0, 0, {}] for _ in servers]
    for served, _ in servers:
        load(served.port, bodies, 1)
    for _ in range(rounds):
        for (served, more), total in zip(servers, totals):
            processes = [served.identifier, *more()]
            before = ticks(processes)
            results = load(served.port, bodies, seconds / rounds)
            total[0] += len(results)
            total[1] += (ticks(processes) - before) / os.sysconf("SC_CLK_TCK")
            for each in results:
                total[2][each[1]] = total[2].get(each[1], 0) + 1
    return [(number / used, states) for number, used, states in totals]


def postgresql():
    started = subprocess.run(
        [str(ROOT / "dev" / "throwaway-postgres.sh"), str(os.getpid())], capture_output=True, text=True, check=True).stdout.split("\n")
    folder, port, programs = started[0], started[1], started[2]
    master = int(pathlib.Path(folder, "data", "postmaster.pid").read_text().split()[0])
    url = f"postgres://assay@127.0.0.1:{port}/assay"
    subprocess.run([os.path.join(programs, "createdb"), "-h", "127.0.0.1", "-p", port, "-U", "assay", "assay"], check=True)
    return folder, port, programs, master, url


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def describe(name, results):
    times = [each[0] * 1000 for each in results]
    states = {str(state): sum(each[1] == state for each in results) for state in {each[1] for each in results}}
    print(f"| {name} | {len(times)} | {percentile(times, 0.5):.1f} | {percentile(times, 0.99):.1f} | {max(times):.1f} | "
          + ", ".join(f"{count} {state}" for state, count in sorted(states.items())) + " |", flush=True)
    return max(times), all(each[1] for each in results) and all(each[2] for each in results)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--receipts", type=int, default=100)
    parser.add_argument("--part", choices=["rates", "stops"])
    arguments = parser.parse_args()
    program, seconds = os.path.abspath(arguments.program), arguments.seconds
    servers, is_good = [], True
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(program, folder, arguments.receipts)
        pg_folder, pg_port, programs, master, url = postgresql()
        try:
            alone = Served(program, folder, shop, "alone", "sqlite:" + os.path.join(folder, "alone.sqlite"), apps="")
            sqlite = Served(program, folder, shop, "sqlite", "sqlite:" + os.path.join(folder, "state.sqlite"))
            remote = Served(program, folder, shop, "postgresql", url)
            servers = [alone, sqlite, remote]
            for server in (sqlite, remote):
                server.tell(shop)
            if arguments.part != "stops":
                print("| receipts | database | per second of the processor | of that without state | target | states |\n|---|---|---|---|---|---|")
                for known in (True, False):
                    words = "with state" if known else "unknown"
                    chosen = [
                        (alone, lambda: []), (sqlite, lambda: []), (remote, lambda: [master, *children(master)])]
                    found = rates(chosen, shop.requests(known), seconds, arguments.rounds)
                    targets = (1, 0.5, 0.3) if known else (1, 0.9, 0.9)
                    for name, target, (number, states) in zip(("none", "SQLite", "PostgreSQL"), targets, found):
                        print(f"| {words} | {name} | {number:.0f} | {number / found[0][0]:.2f} | {target} | {states} |", flush=True)
            if arguments.part != "rates":
                bodies = shop.requests(True)
                print("\n| while | answers | median, ms | 99 %, ms | longest, ms | states |\n|---|---|---|---|---|---|")
                noise, _ = describe("there is no database to ask", load(alone.port, bodies, seconds))

                def stopped():
                    time.sleep(seconds / 4)
                    processes = [master, *children(master)]
                    for each in processes:
                        os.kill(each, signal.SIGSTOP)
                    time.sleep(seconds / 2)
                    for each in processes:
                        os.kill(each, signal.SIGCONT)

                def locked():
                    time.sleep(seconds / 4)
                    subprocess.run(
                        [os.path.join(programs, "psql"), url, "-qc",
                         f"BEGIN; LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep({seconds / 2}); COMMIT"],
                        check=True, capture_output=True)

                def locked_file():
                    time.sleep(seconds / 4)
                    other = sqlite3.connect(os.path.join(folder, "state.sqlite"), timeout=30, isolation_level=None)
                    other.execute("BEGIN EXCLUSIVE")
                    time.sleep(seconds / 2)
                    other.execute("ROLLBACK")
                    other.close()

                def killed():
                    time.sleep(seconds / 4)
                    processes = [master, *children(master)]
                    for each in processes:
                        os.kill(each, signal.SIGKILL)

                for name, server, during in (
                        ("SQLite answers", sqlite, None), ("another process locks the file of SQLite", sqlite, locked_file),
                        ("PostgreSQL answers", remote, None), ("PostgreSQL is stopped and goes on", remote, stopped),
                        ("a table of PostgreSQL is locked", remote, locked), ("PostgreSQL is killed", remote, killed)):
                    longest, has_state = describe(name, load(server.port, bodies, seconds, during))
                    is_good = is_good and has_state
                    if longest > noise + 60:
                        print(f"  longer than the noise of {noise:.1f} ms and 60 ms", file=sys.stderr)
                print("\nEvery answer had status 0 and its state." if is_good else "\nAn answer had no state, or another status.")
        finally:
            for server in servers:
                server.server.stop(at_once=True)
            subprocess.run([os.path.join(pg_folder, "control"), "-m", "immediate", "stop"], capture_output=True)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
