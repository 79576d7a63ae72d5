#!/usr/bin/env python3
"""Replaces the servers of one release by those of the next under load, over one PostgreSQL, and checks that no claim fails.

usage: rolling_upgrade.py PROGRAM NEXT [--clients N] [--seconds N] [--purchases N]

NEXT is `assay` built with ASSAY_NEXT_RELEASE=1: it has one more migration, rules and kind of journal entries. Two
servers of PROGRAM are behind one TCP proxy. While clients send purchases:

1. a server of NEXT starts, which migrates; both releases write. It must not write the new kind yet;
2. a server of PROGRAM stops and another one starts: the way back;
3. the servers of PROGRAM stop one after the other, as a proxy drains them, and another of NEXT starts;
4. `assay migrate --contract` ends the migration. NEXT goes on without a pause, and writes the new kind;
5. a server of PROGRAM that still runs, which gets no purchases, answers 503 and says why; it cannot be started again;
6. after the audit, a row of newer rules is put into the database, and then an entry of an unknown kind. A running server answers 503
   to the next purchase, and with the code of the reason.

Every purchase must be answered 200 the first time. At the end each is granted once, and the audit of NEXT finds nothing.
"""
import argparse
import asyncio
import collections
import json
import os
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from kill_servers import PostgreSQL, Proxy
from minted_notifications import COINS, NotificationMint
from purchase_load import PurchaseServer, purchase_head, read_answer
from running_server import ServerFailed


class Load:
    """Clients that send purchases to a proxy, each over new connections, so that a server can be drained."""

    def __init__(self, proxy, key, work):
        self.proxy, self.work, self.head = proxy, work, purchase_head(key)
        self.answers, self.refusals, self.slowest = {}, [], 0
        self.isOver = False

    async def client(self):
        while not self.isOver:
            number, body = next(self.work)
            begin = time.monotonic()
            reader, writer = await asyncio.open_connection("127.0.0.1", self.proxy.port)
            writer.write(self.head + str(len(body)).encode() + b"\r\n\r\n" + body)
            await writer.drain()
            try:
                status, _, content = await read_answer(reader)
            except (OSError, asyncio.IncompleteReadError) as error:
                status, content = 0, repr(error)
            writer.close()
            self.slowest = max(self.slowest, time.monotonic() - begin)
            if status == 200:
                self.answers[number] = content["code"]
            else:
                self.refusals.append((number, status, content))


def refused(server, key, body):
    """The status and the code of one purchase that is sent to a server without the proxy."""
    request = urllib.request.Request(
        f"{server.address}/v1/purchases", body,
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)["code"]
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)["code"]


def ready(server):
    """What a server says about its readiness."""
    try:
        with urllib.request.urlopen(f"{server.address}/readyz") as answer:
            return json.load(answer)["status"]
    except urllib.error.HTTPError as error:
        return json.load(error)["code"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("next")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--purchases", type=int, default=40_000)
    options = parser.parse_args()
    program, newer = os.path.abspath(options.program), os.path.abspath(options.next)
    postgres = PostgreSQL()
    url = f"postgres:///assay?host={postgres.folder}&port={postgres.port}&user=assay"
    with tempfile.TemporaryDirectory(prefix="assay-upgrade-") as folder:
        mint = NotificationMint(program, folder)
        spare, late, later, *waiting = [mint.claim(number, COINS) for number in range(options.purchases)]
        work = enumerate(waiting)
        world = PurchaseServer(program, folder, folder, "", url)

        def start(which):
            world.program = which
            return world.start_another()

        def command(which, *arguments):
            world.program = which
            return world.run(*arguments, "--config", world.settings, "--database", url)

        def fails(which, *arguments):
            try:
                command(which, *arguments)
            except subprocess.CalledProcessError as error:
                return error.stderr.strip()
            raise SystemExit(f"{' '.join(arguments)} was accepted")

        print(subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip(), flush=True)
        old = [start(program), start(program)]
        # It stays, outside of the proxy, as a server that somebody has forgotten.
        forgotten = start(program)
        new = []
        proxy = Proxy()
        figures = collections.OrderedDict()

        async def phase(load, name, do):
            """Does something while the clients send, and counts the answers of the phase."""
            before = len(load.answers)
            load.slowest = 0
            await asyncio.get_running_loop().run_in_executor(None, do)
            await asyncio.sleep(options.seconds)
            figures[name] = (len(load.answers) - before, load.slowest)
            print(f"{name}: {figures[name][0]} purchases granted, the slowest answer took {load.slowest * 1000:.0f} ms, "
                  f"{len(load.refusals)} not granted", flush=True)
            if load.refusals:
                raise SystemExit(f"{name}: {load.refusals[:3]}")

        def balance():
            proxy.ports = [server.port for server in old + new]

        def drain(server):
            """Takes a server from the proxy, and stops it once it has answered."""
            balance()
            time.sleep(0.2)
            if server.stop() != 0:
                raise SystemExit("a server did not stop cleanly")

        def expand():
            new.append(start(newer))
            balance()
            if "begin with 'assay migrate --contract'" not in fails(newer, "note-next-release", "early"):
                raise SystemExit("the new kind was refused for another reason")

        def back():
            server = old.pop()
            drain(server)
            old.append(start(program))
            balance()

        def forward():
            new.append(start(newer))
            while old:
                drain(old.pop())

        def contract():
            print(command(newer, "migrate", "--contract"), end="", flush=True)

        async def run():
            await proxy.start()
            balance()
            load = Load(proxy, world.key, work)
            clients = [asyncio.create_task(load.client()) for _ in range(options.clients)]
            await phase(load, "two servers of the release", lambda: None)
            await phase(load, "a server of the next has migrated", expand)
            await phase(load, "a server of the release was started again", back)
            await phase(load, "only servers of the next", forward)
            await phase(load, "after migrate --contract", contract)
            load.isOver = True
            await asyncio.gather(*clients)
            if load.refusals:
                raise SystemExit(f"not granted: {load.refusals[:3]}")
            return load

        load = asyncio.run(run())
        command(newer, "note-next-release", "in time")
        status, code = refused(forgotten, world.key, spare)
        print(f"the forgotten server of the release answers {status} {code}")
        if (status, code) != (503, "database_schema_too_new"):
            raise SystemExit("it should refuse to write")
        forgotten.stop()
        try:
            start(program)
            raise SystemExit("a server of the release started after the contraction")
        except ServerFailed as error:
            print(f"it cannot be started again: {str(error).strip().splitlines()[-1]}")
        lots, grants, rules, kinds = postgres.rows(
            "SELECT count(*), count(DISTINCT transactions.transaction_id) FROM lots "
            "JOIN transactions ON transactions.original_key = lots.ground",
            "SELECT count(*), count(DISTINCT transaction_key) FROM events WHERE type = 'granted'",
            "SELECT version FROM rules ORDER BY version", "SELECT count(*) FROM journal WHERE kind = 255")
        for what, row in (("lots", lots), ("grants", grants)):
            if row != [[str(len(load.answers))] * 2]:
                raise SystemExit(f"{len(load.answers)} answers, and {row} {what}")
        if set(load.answers.values()) != {"accepted"} or kinds != [["1"]]:
            raise SystemExit(f"codes {set(load.answers.values())}, entries of the new kind {kinds}")
        print(f"rules {', '.join(row[0] for row in rules)}; {len(load.answers)} purchases, each granted once")
        for server in new:
            server.stop()
        world.program = newer
        world.check_record(["audit", "verify", "--evidence"], ["rebuild"])
        server = start(newer)
        postgres.rows("INSERT INTO rules (version, entry_key) SELECT 99, max(entry_key) FROM journal", "COMMIT")
        met = [refused(server, world.key, late)]
        postgres.rows("DELETE FROM rules WHERE version = 99", "COMMIT")
        met.append(refused(server, world.key, late))
        postgres.rows(
            "INSERT INTO journal (entry_key, entry_id, leaf, app_key, kind, code, at) SELECT entry_key + 1, "
            "decode(repeat('07', 16), 'hex'), leaf, app_key, 250, code, at FROM journal ORDER BY entry_key DESC LIMIT 1",
            "COMMIT")
        # The server looks for new kinds once a second.
        deadline = time.monotonic() + 30
        while (answer := ready(server)) == "ready" and time.monotonic() < deadline:
            time.sleep(0.1)
        met.append(refused(server, world.key, later))
        for what, (status, code) in zip(("newer rules", "these rules again", "an unknown kind"), met):
            print(f"a server that meets {what} answers {status} {code}")
        if met != [(503, "database_rules_too_new"), (200, "accepted"), (503, "database_journal_kind_unknown")]:
            raise SystemExit("it should refuse to write, and say why")
        print(f"its readiness: {answer}")
        server.stop()


if __name__ == "__main__":
    main()
