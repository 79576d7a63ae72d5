"""Kills servers, and PostgreSQL, at random moments under load, and checks that nothing is lost, granted twice or delivered twice.

In each round clients send new evidence to servers at random, until the strike: SIGKILL of one server or of all, or PostgreSQL restarted,
crashed or killed. The others continue: an answer is 200, or 503 with `Retry-After` while PostgreSQL is down. What got no answer is
sent again in a later round. After each round the database must have everything that was answered with 200, once, under the entry that
the answer named. A webhook gets the events; some servers are killed while they deliver the rest, and at the end every event must have
arrived, those of each customer in their order, and `assay audit verify --evidence` must find nothing.
"""
import base64
import collections
import datetime
import json
import math
import random
import signal
import tempfile
import time
import uuid

from loads.sender import Sender, beside, post
from servers import CLUB, COINS, PostgreSQL, SQLite, Store, WebhookReceiver, World, ask, wait_until

# What is killed, by the database.
STRIKES = {
    SQLite: ["all servers"],
    PostgreSQL: ["one server", "one server", "one server", "all servers", "restart", "crash", "kill PostgreSQL"],
}
# The lease of a killed server must end before another one delivers, which takes a minute.
DELIVERY_LIMIT = 600
DELIVERY_KILLS = 3
MONTHS = 4


class Claims:
    """Purchases of consumables, which clients claim."""

    scope = "client"
    strike_after = (0.05, 0.8)

    def __init__(self, options, folder, chance):
        from loads.evidence import Mint
        self.mint = Mint(options.program, folder)
        self.trust, self.number, self.waiting = self.mint.trust, 0, {}
        self.answered, self.unanswered, self.sent = {}, set(), set()

    def begin(self, world):
        self.world = world

    def round(self, chance):
        """Those that were sent without an answer come first, so that many rounds repeat them."""
        self.sent = set()
        for name in sorted(self.waiting, key=lambda name: name not in self.unanswered):
            self.sent.add(name)
            yield name, self.waiting[name]
        while True:
            self.number += 1
            transaction = self.mint.transaction(self.number, COINS)["transactionId"]
            self.waiting[transaction] = post("/v1/purchases", self.mint.claim(self.number), self.world.key)
            self.sent.add(transaction)
            yield transaction, self.waiting[transaction]

    def note(self, name, content, figures):
        if content["replayed"]:
            figures["answered as replays"] += 1
            if name not in self.unanswered | self.sent:
                raise SystemExit(f"{name} is a replay, but was never sent before")
        self.answered[name] = content["submission_id"].replace("-", "")
        self.waiting.pop(name, None)

    def check(self, place, figures, entry):
        lots, grants, entries, balance = self.world.database.rows(
            "SELECT transactions.transaction_id, count(*) FROM lots JOIN transactions ON transactions.original_key = lots.ground GROUP BY 1",
            "SELECT transactions.transaction_id, count(*) FROM events JOIN transactions USING (transaction_key) WHERE type = 'granted' GROUP BY 1",
            f"SELECT {entry} FROM journal", "SELECT coalesce(sum(balance), 0) FROM entitlements")
        lots, grants, entries = dict(lots), dict(grants), {row[0] for row in entries}
        missing = [name for name, named in self.answered.items() if lots.get(name) != "1" or named not in entries]
        twice = [name for name, count in grants.items() if count != "1"]
        if missing or twice or set(grants) != set(lots) or int(balance[0][0]) != len(lots):
            raise SystemExit(f"{place}: answered and missing {missing[:5]}, granted twice {twice[:5]}, {len(lots)} lots, "
                             f"{len(grants)} grants, balance {balance}")
        self.unanswered = (self.unanswered | self.sent) - set(self.answered)
        between = set(lots) & self.unanswered
        figures["committed without an answer"] += len(between)
        figures["strikes between a commit and its answers"] += bool(between)
        return f"{len(self.answered)} answered, {len(between)} committed without an answer"

    def left(self):
        return []

    def finish(self, figures):
        if not figures["strikes between a commit and its answers"]:
            raise SystemExit("no strike came between commit and answer")


class News:
    """The notifications of a simulated store that sold coins and subscriptions, renewed them, refunded some coins and reversed some
    refunds. They are the only evidence; a third is sent twice, some are signed again, and earlier ones come once more."""

    scope = "backend"
    strike_after = (0.02, 0.4)
    # The events of which a transaction has at most one here: no coins are refunded twice.
    ONCE = ("granted", "renewed", "revoked", "reversed")

    def __init__(self, options, folder, chance):
        start = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=31 * MONTHS + 5)
        self.store = Store(options.program, folder, "--clock", start.strftime("%Y-%m-%dT%H:%M:%SZ"))
        self.trust, self.rounds = self.store.trust, options.rounds
        self.store.sell((COINS, False), (CLUB, True))
        names = [f"customer-{number}" for number in range(3 * options.rounds)]
        self.tokens = {name: str(uuid.UUID(int=chance.getrandbits(128), version=4)) for name in names}
        self.coins, self.subscriptions, self.refunded = collections.Counter(), {}, set()
        purchases = [self.buy(customer, chance.randrange(1, 11)) for customer in self.tokens]
        for _ in range(MONTHS):
            self.store.control("clock", {"advance": "P1M"})
        self.hour()
        fates = [(*purchase, chance.choice(["kept", "kept", "refunded", "reversed"])) for purchase in purchases]
        for customer, transaction, quantity, fate in fates:
            if fate != "kept":
                self.store.control(f"transactions/{transaction}/refund", {})
            if fate == "refunded":
                self.refunded.add(transaction)
            else:
                self.coins[customer] += quantity
        self.hour()
        for _, transaction, _, fate in fates:
            if fate == "reversed":
                self.store.control(f"transactions/{transaction}/reverse-refund", {})
        self.ends = {customer: self.store.control(f"subscriptions/{number}")["subscription"]["expires_date"]
                     for customer, number in self.subscriptions.items()}
        self.fresh = list(self.signed(chance))
        chance.shuffle(self.fresh)
        self.count, self.delivered, self.waiting, self.entries = len(self.fresh), [], [], {}
        print(f"{self.count} notifications of {len(self.tokens)} customers", flush=True)

    def hour(self):
        """Lets an hour pass, so that what happens next is signed later."""
        now = datetime.datetime.fromisoformat(self.store.control("clock")["now"])
        self.store.control("clock", {"time": (now + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")})

    def buy(self, customer, quantity):
        self.store.control("customers", {"customer_id": customer, "environment": "production"})
        bought = self.store.buy(COINS, customer, app_account_token=self.tokens[customer], quantity=quantity)["transaction"]
        club = self.store.buy(CLUB, customer, app_account_token=self.tokens[customer])["transaction"]
        self.subscriptions[customer] = club["original_transaction_id"]
        return customer, bought["transaction_id"], quantity

    def signed(self, chance):
        """The notification of every event that has one, with its transaction; of a quarter of them two signatures."""
        number = 0
        while (payload := self.store.notification(number := number + 1)) is not False:
            if payload:
                claims = self.claims(payload)
                transaction = self.claims(claims["data"]["signedTransactionInfo"])["transactionId"]
                signed = [payload] + ([self.store.notification(number)] if chance.randrange(4) == 0 else [])
                bodies = [post("/notifications/v2", json.dumps({"signedPayload": each}).encode()) for each in signed]
                yield claims["notificationUUID"], transaction, bodies

    @staticmethod
    def claims(signed):
        part = signed.split(".")[1]
        return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))

    def begin(self, world):
        self.world = world
        for customer, token in self.tokens.items():
            status, answer = ask(world.servers[0].address, f"/v1/customers/{customer}/app_account_token", {"app_account_token": token},
                                 world.key, "PUT")
            if status not in (200, 201):
                raise SystemExit(f"a token is answered {status}: {answer}")

    def round(self, chance):
        size = -(-self.count // self.rounds)
        part, self.fresh = self.fresh[:size], self.fresh[size:]
        self.delivered += part
        again = [each for each in part if chance.randrange(3) == 0] + [chance.choice(self.delivered) for _ in range(size // 4)]
        self.waiting += [((name, transaction, body := chance.choice(bodies)), body) for name, transaction, bodies in part + again]
        chance.shuffle(self.waiting)
        return self.left()

    def left(self):
        """What waits, each until it is sent; what is not answered waits again."""
        while self.waiting:
            yield self.waiting[-1]
            self.waiting.pop()

    def note(self, name, content, figures):
        identifier, transaction, _ = name
        figures["answered as repeated" if content["repeated"] else "answered as new"] += 1
        # An answer of a repetition can come first, and if it was signed again, it names an entry of its own.
        entry = None if content["repeated"] else content["entry_id"].replace("-", "")
        earlier = self.entries.get(identifier, (None, None))[1]
        if entry and earlier not in (None, entry):
            raise SystemExit(f"the notification {identifier} was new twice: {earlier} and {entry}")
        self.entries[identifier] = (transaction, entry or earlier)

    def check(self, place, figures, entry):
        known, transactions, events = self.world.database.rows(
            f"SELECT notification_id, {entry} FROM notifications JOIN journal USING (entry_key)", "SELECT transaction_id FROM transactions",
            "SELECT type, transaction_id, count(*) FROM events JOIN transactions USING (transaction_key) GROUP BY 1, 2")
        entries, transactions = collections.defaultdict(list), {row[0] for row in transactions}
        for identifier, named in known:
            entries[identifier].append(named)
        for identifier, (transaction, named) in self.entries.items():
            if len(entries[identifier]) != 1 or named not in (None, entries[identifier][0]):
                raise SystemExit(f"{place}: {identifier} was answered with {named} and has the entries {entries[identifier]}")
            if transaction not in transactions:
                raise SystemExit(f"{place}: the transaction of {identifier} is not there")
        if twice := [row for row in events if row[0] in self.ONCE and row[2] != "1"]:
            raise SystemExit(f"{place}: events exist twice: {twice[:5]}")
        return f"{len(entries)} in the database, {len(self.waiting)} left"

    def finish(self, figures):
        """Every purchase and every period has one event of its grant, the events of refunds and reversals together say which coins are
        refunded, and every server answers what the store says."""
        if len(self.entries) != self.count:
            raise SystemExit(f"{len(self.entries)} notifications were answered, {self.count} sent")
        rows, = self.world.database.rows(
            "SELECT transaction_id, coalesce(sum(CASE WHEN type IN ('granted', 'renewed') THEN 1 END), 0), "
            "coalesce(sum(CASE type WHEN 'revoked' THEN 1 WHEN 'reversed' THEN -1 END), 0) FROM transactions "
            "LEFT JOIN events USING (transaction_key) GROUP BY 1")
        if wrong := [row for row in rows if row[1:] != ["1", "1" if row[0] in self.refunded else "0"]]:
            raise SystemExit(f"transactions with other events of grants and refunds: {wrong[:5]}")
        for customer in self.tokens:
            for server in self.world.servers:
                _, answer = ask(server.address, f"/v1/customers/{customer}/entitlements", key=self.world.key)
                found = {each["product_id"]: each for each in answer["entitlements"]}
                club = found.get(CLUB, {})
                if found.get(COINS, {}).get("balance", 0) != self.coins[customer] or club.get("state") != "active" \
                        or club.get("until", "")[:19] != self.ends[customer][:19]:
                    raise SystemExit(f"{customer}: the store has {self.coins[customer]} coins and the club until {self.ends[customer]}, "
                                     f"the server answers {found}")
        self.store.stop()


class Round:
    """The answers of one round."""

    def __init__(self, work, servers, clients, figures):
        self.work, self.figures, self.is_struck, self.after = work, figures, False, 0
        self.sender = Sender([server.port for server in servers], clients, self.answer, self.lost)

    def answer(self, name, status, head, content, _):
        if status == 200:
            self.work.note(name, json.loads(content), self.figures)
            self.after += self.is_struck
        elif status == 503 and b"retry-after:" in head.lower():
            self.figures["refused with 503 and Retry-After"] += 1
            self.lost(name)
        else:
            raise SystemExit(f"{name} was answered {status}: {content}")

    def lost(self, name):
        if isinstance(self.work, News):
            self.work.waiting.insert(0, (name, name[2]))

    def run(self, work, seconds=None, strike=None, rest=False):
        """Sends until the strike, and until one of the rest has answered again on its own."""
        end = math.inf

        def is_over():
            nonlocal end
            if self.after and not isinstance(self.work, News):
                end = min(end, time.monotonic() + 0.2)
            return time.monotonic() > end

        def struck():
            nonlocal end
            time.sleep(seconds)
            strike()
            self.is_struck, end = True, time.monotonic() + (30 if rest else 0)

        striking = beside(struck) if strike else None
        self.sender.run(work, is_over=is_over)
        if striking:
            striking.result()
        self.sender.close()


def kill(options, engine, count, kind):
    chance, figures = random.Random(options.seed), collections.Counter()
    database = engine() if engine is PostgreSQL else None
    entry = "encode(entry_id, 'hex')" if database else "lower(hex(entry_id))"
    with tempfile.TemporaryDirectory(prefix="assay-kill-", ignore_cleanup_errors=True) as folder:
        work, receiver = kind(options, folder, chance), WebhookReceiver()
        world = World(options.program, folder, work.trust, database, f"    webhooks: [{receiver.hook}]\n", scope=work.scope)

        def strike(what):
            victims = {"one server": [chance.randrange(count)], "all servers": range(count)}.get(what, [])
            for victim in victims:
                world.servers[victim].process.kill()
                if world.servers[victim].process.wait() != -signal.SIGKILL:
                    raise SystemExit(f"{what}: a server had ended before")
            if not victims:
                database.strike(what)
            return victims

        def restart():
            servers, world.servers = world.servers, []
            for server in servers:
                world.servers.append(server) if server.process.poll() is None else world.start()

        for _ in range(count):
            world.start()
        world.wait_for_webhook()
        work.begin(world)
        for number in range(1, options.rounds + 1):
            what = chance.choice(STRIKES[engine])
            current, has_rest = Round(work, world.servers, options.clients, figures), what != "all servers"
            current.run(work.round(chance), chance.uniform(*work.strike_after), lambda: strike(what), has_rest)
            if has_rest and kind is Claims and not current.after:
                raise SystemExit(f"round {number}: after the strike ({what}) nobody answered any more")
            figures[f"strikes: {what}"] += 1
            restart()
            print(f"round {number}: {what}; {work.check(f'round {number}', figures, entry)}", flush=True)
        deadline = time.monotonic() + 300
        while getattr(work, "waiting", None) and kind is News:
            if time.monotonic() > deadline:
                raise SystemExit(f"{len(work.waiting)} were not accepted within five minutes")
            Round(work, world.servers, options.clients, figures).run(work.left())
        work.check("at the end", figures, entry)
        work.finish(figures)
        events, = world.database.rows(f"SELECT 'evt_' || {entry} || '_' || event_key FROM events JOIN journal USING (entry_key)")
        expected, before = {row[0] for row in events}, len(receiver.ids)
        if options.webhook:
            for _ in range(DELIVERY_KILLS):
                enough = len(receiver.ids) + len(expected - receiver.ids) // 4
                wait_until(lambda: len(receiver.ids) >= enough, "the events were not delivered", DELIVERY_LIMIT)
                strike("all servers")
                restart()
            receiver.wait(expected, DELIVERY_LIMIT)
            print(f"webhook: all {len(expected)} events arrived in the order of each customer, {before} of them between the strikes and the "
                  f"others between {DELIVERY_KILLS} more kills; {len(receiver.arrivals) - len(receiver.ids)} more than once")
        world.stop()
        print(f"{options.rounds} strikes on {count} servers: everything that was answered is there, nothing twice")
        for name, number in sorted(figures.items()):
            print(f"  {name}: {number}")
        world.check_record(["audit", "verify", "--evidence"])
