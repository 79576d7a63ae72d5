#!/usr/bin/env python3
"""Kills a purchase server under load at random moments, and checks that no answered purchase is lost or granted twice.

usage: kill_under_load.py PROGRAM EVIDENCE [--rounds N] [--seed N]

EVIDENCE is a folder that `ledger-benchmark --export FOLDER COUNT` wrote. In each round 64 connections send purchases that were not
answered yet, until SIGKILL. Then the database must have every purchase that was answered with 200, each granted once; the entries must
be the ones that the answers named. Purchases that were committed and not answered are counted: the kill came between commit and
answer. They are sent again in a later round, and must be answered as replays. At the end `assay audit verify` and `assay rebuild` must
find nothing.

A webhook gets the events from the server that has its lease. After the last round servers deliver the rest, and three of
them are killed while they do: every event must have arrived, and the first arrivals of each customer in their order.
"""
import argparse
import asyncio
import os
import random
import signal
import sqlite3
import tempfile
import time

from purchase_load import PurchaseServer, requests, send_all
from webhook_receiver import WebhookReceiver

CONNECTIONS = 64
# The lease of a killed server must end before another one delivers, which takes a minute.
DELIVERY_KILLS = 3
DELIVERY_LIMIT = 600


def query(server, sql):
    with sqlite3.connect(f"file:{server.database}?mode=ro", uri=True) as connection:
        return connection.execute(sql).fetchall()


async def run_round(server, work, seconds, answers):
    killer = asyncio.get_running_loop().call_later(seconds, os.kill, server.identifier, signal.SIGKILL)

    def on_answer(transaction, status, content):
        answers.append((transaction, status, content))

    lost = await send_all(server, work, CONNECTIONS, on_answer)
    killer.cancel()
    return lost


def register_webhook(server):
    """A webhook begins with the events after the first server that sees it."""
    server.start()
    server.wait_for_webhook()
    server.server.stop()


def deliver(server, receiver, expected, count):
    """Lets a server deliver until a number of events has arrived, or all."""
    server.start()
    deadline = time.monotonic() + DELIVERY_LIMIT
    while len(receiver.ids) < count and not expected <= receiver.ids and time.monotonic() < deadline:
        time.sleep(0.02)


def deliver_rest(server, receiver, chance):
    """Delivers every event, and prints what arrived."""
    before = len(receiver.ids)
    expected = {row[0] for row in query(server, """
        SELECT 'evt_' || lower(hex(entry_id)) || '_' || event_key FROM events JOIN journal USING (entry_key)""")}
    for _ in range(DELIVERY_KILLS):
        rest = len(expected - receiver.ids)
        deliver(server, receiver, expected, len(receiver.ids) + chance.randint(1, max(1, rest // 4)))
        server.server.process.kill()
        server.server.process.wait()
    deliver(server, receiver, expected, len(expected) + 1)
    server.server.stop()
    receiver.wait(expected, 0)
    print(f"webhook: all {len(expected)} events arrived in the order of each customer, {before} of them between the "
          f"kills above and the others between {DELIVERY_KILLS} more kills; {len(receiver.arrivals) - len(receiver.ids)} more than once")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("evidence")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    chance = random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    waiting = dict(requests(os.path.join(options.evidence, "signed.ndjson")))
    answered, unanswered, replays = {}, set(), 0
    struck = strikes = 0
    with tempfile.TemporaryDirectory(prefix="assay-kill-") as folder:
        receiver = WebhookReceiver()
        server = PurchaseServer(os.path.abspath(options.program), options.evidence, folder, receiver.settings)
        register_webhook(server)
        for number in range(options.rounds):
            server.start()
            # Purchases that were committed without an answer come first, so that many rounds repeat them.
            order = sorted(waiting, key=lambda transaction: transaction not in unanswered)
            answers = []
            asyncio.run(run_round(
                server, ((transaction, waiting[transaction]) for transaction in order),
                chance.uniform(0.05, 0.6), answers))
            server.server.process.kill()
            status = server.server.process.wait()
            if status != -signal.SIGKILL:
                raise SystemExit(f"round {number}: the server ended with {status}, not by the signal; give it more evidence")
            for transaction, status, content in answers:
                if status != 200:
                    raise SystemExit(f"transaction {transaction} was answered {status}: {content}")
                if content["replayed"]:
                    replays += 1
                    if transaction not in unanswered:
                        raise SystemExit(f"{transaction} is a replay, but no earlier round can have committed it")
                answered[transaction] = content["submission_id"].replace("-", "")
                waiting.pop(transaction)
                unanswered.discard(transaction)
            lots = dict(query(server, """
                SELECT transactions.transaction_id, count(*) FROM lots
                JOIN transactions ON transactions.original_key = lots.ground GROUP BY 1"""))
            granted = dict(query(server, """
                SELECT transactions.transaction_id, count(*) FROM events
                JOIN transactions USING (transaction_key) WHERE type = 'granted' GROUP BY 1"""))
            entries = {row[0] for row in query(server, "SELECT lower(hex(entry_id)) FROM journal")}
            balance = query(server, "SELECT coalesce(sum(balance), 0) FROM entitlements")[0][0]
            missing = [transaction for transaction, entry in answered.items()
                       if lots.get(transaction) != 1 or entry not in entries]
            twice = [transaction for transaction, count in granted.items() if count != 1]
            if missing or twice or set(granted) != set(lots) or balance != len(lots):
                raise SystemExit(
                    f"round {number}: answered and missing {missing[:5]}, granted twice {twice[:5]}, "
                    f"{len(lots)} lots, {len(granted)} grants, balance {balance}")
            between = set(lots) - set(answered) - unanswered
            unanswered |= between
            struck += len(between)
            strikes += 1 if between else 0
            if number % 10 == 9:
                print(f"round {number + 1}: {len(answered)} answered, {struck} committed without an answer", flush=True)
        deliver_rest(server, receiver, chance)
        receiver.close()
        print(f"{options.rounds} kills: {len(answered)} purchases answered, all there, none granted twice")
        print(f"{strikes} kills came between a commit and its answers: {struck} purchases, of which {replays} were sent again "
              "and answered as replays")
        server.check_record(["audit", "verify"], ["rebuild"])
    if strikes == 0:
        raise SystemExit("no kill came between commit and answer")


if __name__ == "__main__":
    main()
