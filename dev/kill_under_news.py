#!/usr/bin/env python3
"""Kills servers that share one PostgreSQL, and PostgreSQL itself, while the App Store's notifications arrive, and checks that none is
lost or applied twice.

usage: kill_under_news.py PROGRAM [--rounds N] [--servers N] [--clients N] [--customers N] [--seed N]

`assay simulate` sells coins and subscriptions to customers, renews them, refunds some coins and reverses some refunds; its
notifications are the only evidence. A throwaway PostgreSQL is started. In each round clients send new notifications to servers at
random, a third of them twice, some signed again, and earlier ones once more, until the strike: SIGKILL of one server or of all, or
PostgreSQL restarted, crashed or killed. A notification without an answer, or with 503, is sent again later, as the App Store does.

After each round every notification that was answered with 200 has one entry, which the answer named, and its transaction is known; no
event about a transaction exists twice. At the end everything is delivered, and each server answers what the store says; a webhook has
got each event, and `assay audit verify` and `assay rebuild` find nothing. Without PostgreSQL it does nothing, except in CI.
"""
import argparse
import asyncio
import base64
import collections
import datetime
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

from demo import ask
from kill_servers import STRIKES, PostgreSQL
from purchase_load import PurchaseServer, read_answer
from running_server import RunningServer
from webhook_receiver import WebhookReceiver

BUNDLE = "com.example.app"
SETTINGS = """
server: {{ trust: [{trust}] }}
apps:
  example:
    bundle_ids: [com.example.app]
    products:
      coins: {{ kind: consumable }}
      gold: {{ kind: auto_renewable }}
"""
MONTHS = 4
# A killed server's lease must end before another one delivers to the webhook, which takes a minute.
DELIVERY_LIMIT = 600
# The events of which a transaction has at most one here: no coins are refunded twice.
ONCE = ("granted", "renewed", "revoked", "reversed")


def payload_claims(signed):
    """The claims of signed data."""
    part = signed.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


class Notification:
    """A notification, in one or two signatures of the same content."""

    def __init__(self, signed):
        self.bodies = [json.dumps({"signedPayload": each}).encode() for each in signed]
        claims = payload_claims(signed[0])
        self.id, self.type = claims["notificationUUID"], claims["notificationType"]
        self.transaction = payload_claims(claims["data"]["signedTransactionInfo"])["transactionId"]


class Store:
    """A simulated store with customers who bought, renewed and got refunds, until now."""

    def __init__(self, program, folder, customers, chance):
        start = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=31 * MONTHS + 5)
        self.process = RunningServer(
            [program, "simulate", "--port", "0", "--authority", os.path.join(folder, "authority"), "--clock",
             start.strftime("%Y-%m-%dT%H:%M:%SZ"), "--log-level", "error"], folder)
        self.tokens = {f"customer-{number}": str(uuid.UUID(int=chance.getrandbits(128), version=4)) for number in range(customers)}
        self.control("apps", {"bundle_id": BUNDLE})
        self.control("products", {"bundle_id": BUNDLE, "product_id": "coins", "kind": "consumable"})
        self.control("products", {
            "bundle_id": BUNDLE, "product_id": "gold", "kind": "auto-renewable", "subscription": {"group_id": "club", "period": "P1M"}})
        self.coins, self.subscriptions = collections.Counter(), {}
        purchases = [self.buy(customer, chance) for customer in self.tokens]
        for _ in range(MONTHS):
            self.control("clock", {"advance": "P1M"})
        self.hour()
        reversed_purchases, self.refunded = [], set()
        for customer, transaction, quantity in purchases:
            fate = chance.choice(["kept", "kept", "refunded", "reversed"])
            if fate != "kept":
                self.control(f"transactions/{transaction}/refund", {})
            if fate == "reversed":
                reversed_purchases.append(transaction)
            if fate == "refunded":
                self.refunded.add(transaction)
            self.coins[customer] += 0 if fate == "refunded" else quantity
        self.hour()
        for transaction in reversed_purchases:
            self.control(f"transactions/{transaction}/reverse-refund", {})
        self.ends = {
            customer: self.control(f"subscriptions/{number}", method="GET")["subscription"]["expires_date"]
            for customer, number in self.subscriptions.items()}
        self.notifications = list(self.signed(chance))

    def hour(self):
        """Lets an hour pass, so that what happens next is signed later."""
        now = datetime.datetime.fromisoformat(self.control("clock", method="GET")["now"])
        self.control("clock", {"time": (now + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")})

    def control(self, path, body=None, method=None):
        status, answer = ask(self.process.address, "/control/" + path, body, method=method)
        if status not in (200, 201):
            raise SystemExit(f"the store answers {path} with {status}: {answer}")
        return answer

    def buy(self, customer, chance):
        self.control("customers", {"customer_id": customer, "environment": "production"})
        quantity = chance.randrange(1, 11)
        content = {"bundle_id": BUNDLE, "customer_id": customer, "app_account_token": self.tokens[customer]}
        bought = self.control("purchases", {**content, "product_id": "coins", "quantity": quantity})["transaction"]
        subscription = self.control("purchases", {**content, "product_id": "gold"})["transaction"]
        self.subscriptions[customer] = subscription["original_transaction_id"]
        return customer, bought["transaction_id"], quantity

    def signed(self, chance):
        """The notification of every event that has one; of a quarter of them two signatures."""
        number = 0
        while True:
            number += 1
            status, answer = ask(self.process.address, f"/control/events/{number}/notification")
            if status == 404 and answer.get("code") == "unknown_event":
                return
            if status != 200:
                continue
            signed = [answer["signed_payload"]]
            if chance.randrange(4) == 0:
                signed.append(ask(self.process.address, f"/control/events/{number}/notification")[1]["signed_payload"])
            yield Notification(signed)


class World(PurchaseServer):
    """Servers that trust the store, over one database."""

    def __init__(self, program, folder, store, more, url):
        self.program, self.folder, self.url = program, folder, url
        self.settings = os.path.join(folder, "assay.yaml")
        with open(self.settings, "w") as file:
            file.write(SETTINGS.format(trust=os.path.join(folder, "authority", "trust.pem")) + more)
        created = self.run("keys", "create", "--app", "example", "--scope", "backend", "--database", url)
        self.key = re.search(r"assay_\S+", created).group(0)

    def assign(self, server, tokens):
        for customer, token in tokens.items():
            status, answer = ask(
                server.address, f"/v1/customers/{customer}/app_account_token", {"app_account_token": token}, self.key, "PUT")
            if status not in (200, 201):
                raise SystemExit(f"a token is answered {status}: {answer}")

    def entitlements(self, server, customer):
        status, answer = ask(server.address, f"/v1/customers/{customer}/entitlements", key=self.key)
        if status != 200:
            raise SystemExit(f"the entitlements of {customer} are answered {status}: {answer}")
        return {each["product_id"]: each for each in answer["entitlements"]}


class Delivery:
    """The clients of one round: each takes the next notification, and sends it to a server at random."""

    def __init__(self, servers, work, chance):
        self.servers, self.work, self.chance = servers, collections.deque(work), chance
        self.answers, self.left = [], []
        self.figures = collections.Counter()
        self.isOver = False

    async def client(self):
        while not self.isOver and self.work:
            notification, body = self.work.popleft()
            port = self.chance.choice(self.servers).port
            try:
                await self.send(notification, body, port)
            except (OSError, asyncio.IncompleteReadError):
                self.figures["without an answer"] += 1
                self.left.append((notification, body))
                await asyncio.sleep(0.02)

    async def send(self, notification, body, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(
                b"POST /notifications/v2 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
                + str(len(body)).encode() + b"\r\n\r\n" + body)
            await writer.drain()
            status, head, content = await read_answer(reader)
        finally:
            writer.close()
        if status == 200:
            self.answers.append((notification, body, content))
            self.figures["answered as repeated" if content["repeated"] else "answered as new"] += 1
        elif status == 503 and b"retry-after:" in head.lower():
            self.figures["refused with 503 and Retry-After"] += 1
            self.left.append((notification, body))
        else:
            raise SystemExit(f"the notification {notification.id} was answered {status}: {content}")

    async def run(self, clients, strike=None, seconds=0.0):
        tasks = [asyncio.create_task(self.client()) for _ in range(clients)]
        if strike:
            await asyncio.sleep(seconds)
            await asyncio.get_running_loop().run_in_executor(None, strike)
        done, pending = await asyncio.wait(tasks, timeout=120)
        if pending:
            raise SystemExit("a client waits for an answer longer than two minutes")
        for task in done:
            task.result()
        self.left += self.work


class Check:
    """What was answered, and what the database must have."""

    def __init__(self, postgres):
        self.postgres = postgres
        self.entries = {}
        self.figures = collections.Counter()

    def note(self, delivery):
        self.figures += delivery.figures
        for notification, _, content in delivery.answers:
            # An answer of a repetition can come first, and if it was signed again, it names an entry of its own.
            entry = None if content["repeated"] else content["entry_id"].replace("-", "")
            earlier = self.entries.get(notification.id, (notification, None))[1]
            if entry and earlier not in (None, entry):
                raise SystemExit(f"the notification {notification.id} was new twice: {earlier} and {entry}")
            self.entries[notification.id] = (notification, entry or earlier)

    def database(self, number):
        known, transactions, events = self.postgres.rows(
            "SELECT notification_id, encode(entry_id, 'hex') FROM notifications JOIN journal USING (entry_key)",
            "SELECT transaction_id FROM transactions",
            "SELECT type, transaction_id, count(*) FROM events JOIN transactions USING (transaction_key) GROUP BY 1, 2")
        entries = collections.defaultdict(list)
        for identifier, entry in known:
            entries[identifier].append(entry)
        transactions = {row[0] for row in transactions}
        for identifier, (notification, entry) in self.entries.items():
            if len(entries[identifier]) != 1 or entry not in (None, entries[identifier][0]):
                raise SystemExit(f"round {number}: {identifier} was answered with {entry} and has the entries {entries[identifier]}")
            if notification.transaction not in transactions:
                raise SystemExit(f"round {number}: the transaction of {notification.type} {identifier} is not there")
        twice = [row for row in events if row[0] in ONCE and row[2] != "1"]
        if twice:
            raise SystemExit(f"round {number}: events exist twice: {twice[:5]}")
        return len(entries)

    def events(self, store):
        """Every purchase and every period has one event of its grant, and the events of refunds and reversals together say which coins
        are refunded, in whatever order the notifications arrived."""
        rows, = self.postgres.rows(
            "SELECT transaction_id, coalesce(sum((type IN ('granted', 'renewed'))::int), 0), "
            "coalesce(sum((type = 'revoked')::int - (type = 'reversed')::int), 0) FROM transactions "
            "LEFT JOIN events USING (transaction_key) GROUP BY 1")
        wrong = [row for row in rows if row[1:] != ["1", "1" if row[0] in store.refunded else "0"]]
        if wrong:
            raise SystemExit(f"transactions with other events of grants and refunds: {wrong[:5]}")

    def answers(self, world, servers, store):
        """Every server answers what the store says."""
        for customer in store.tokens:
            for server in servers:
                found = world.entitlements(server, customer)
                gold = found.get("gold", {})
                end = gold.get("until", "")[:19]
                if found.get("coins", {}).get("balance", 0) != store.coins[customer] or gold.get("state") != "active" \
                        or end != store.ends[customer][:19]:
                    raise SystemExit(
                        f"{customer}: the store has {store.coins[customer]} coins and gold until {store.ends[customer]}, "
                        f"the server answers {found}")


def deliver(servers, work, chance, clients, strike=None, seconds=0.0):
    delivery = Delivery(servers, work, chance)
    asyncio.run(delivery.run(clients, strike, seconds))
    return delivery


def run(options, chance, postgres, folder):
    program, url = os.path.abspath(options.program), f"postgres:///assay?host={postgres.folder}&port={postgres.port}&user=assay"
    begin = time.monotonic()
    store = Store(program, folder, options.customers or options.rounds * 3, chance)
    print(f"{len(store.notifications)} notifications of {len(store.tokens)} customers, in {time.monotonic() - begin:.0f} s", flush=True)
    receiver = WebhookReceiver()
    world = World(program, folder, store, receiver.settings, url)
    servers = [world.start_another() for _ in range(options.servers)]
    world.wait_for_webhook()
    world.assign(servers[0], store.tokens)
    check, strikes = Check(postgres), collections.Counter()
    fresh = list(store.notifications)
    chance.shuffle(fresh)
    size, delivered, left = -(-len(fresh) // options.rounds), [], []
    for number in range(1, options.rounds + 1):
        part, fresh = fresh[:size], fresh[size:]
        delivered += part
        again = [each for each in part if chance.randrange(3) == 0] + [chance.choice(delivered) for _ in range(size // 4)]
        work = left + [(each, chance.choice(each.bodies)) for each in part + again]
        chance.shuffle(work)
        what = chance.choice(STRIKES)
        victims = {"one server": [chance.randrange(len(servers))], "all servers": range(len(servers))}.get(what, [])

        def strike():
            for victim in victims:
                servers[victim].process.kill()
                if servers[victim].process.wait() != -signal.SIGKILL:
                    raise SystemExit(f"round {number}: a server had ended before")
            if not victims:
                postgres.strike(what)

        delivery = deliver(servers, work, chance, options.clients, strike, chance.uniform(0.02, 0.4))
        check.note(delivery)
        left = delivery.left
        strikes[what] += 1
        there = check.database(number)
        for victim in victims:
            servers[victim] = world.start_another()
        print(f"round {number}: {what}; {len(delivery.answers)} answered, {len(left)} left, {there} in the database", flush=True)
    deadline = time.monotonic() + 300
    while left:
        if time.monotonic() > deadline:
            raise SystemExit(f"{len(left)} notifications were not accepted within five minutes")
        delivery = deliver(servers, left, chance, options.clients)
        check.note(delivery)
        left = delivery.left
        time.sleep(0.2 if left else 0)
    there = check.database("at the end")
    if there != len(store.notifications) or len(check.entries) != there:
        raise SystemExit(f"{there} notifications are in the database, {len(check.entries)} were answered, {len(store.notifications)} sent")
    check.events(store)
    check.answers(world, servers, store)
    events, = postgres.rows("SELECT 'evt_' || encode(entry_id, 'hex') || '_' || event_key FROM events JOIN journal USING (entry_key)")
    if options.webhook:
        receiver.wait({row[0] for row in events}, DELIVERY_LIMIT)
    for server in servers:
        server.stop()
    store.process.stop()
    receiver.close()
    print(f"{options.rounds} strikes ({', '.join(f'{name}: {count}' for name, count in sorted(strikes.items()))}) on {options.servers} servers")
    print(f"{there} notifications, each in the database once; the answers of each server are the store's for {len(store.tokens)} customers")
    for name, count in sorted(check.figures.items()):
        print(f"  {name}: {count}")
    print(f"  events: {len(events)}; at the webhook {len(receiver.ids)}, {len(receiver.arrivals) - len(receiver.ids)} more than once")
    world.check_record(["audit", "verify"], ["rebuild"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--customers", type=int, help="three for each round")
    parser.add_argument("--no-webhook", dest="webhook", action="store_false", help="do not wait for the webhook's events")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.servers} servers", flush=True)
    try:
        postgres = PostgreSQL()
    except subprocess.CalledProcessError as error:
        if error.returncode == 3 and "CI" not in os.environ:
            return print("SKIPPED: PostgreSQL is not installed (Debian: postgresql)")
        sys.exit(f"PostgreSQL does not start: {error.stderr}")
    folder = tempfile.mkdtemp(prefix="assay-news-")
    try:
        run(options, random.Random(options.seed), postgres, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
