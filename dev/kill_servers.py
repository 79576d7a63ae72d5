#!/usr/bin/env python3
"""Kills servers that share one PostgreSQL under load at random moments, and PostgreSQL itself, and checks that nothing is lost or granted twice.

usage: kill_servers.py PROGRAM EVIDENCE [--rounds N] [--servers N] [--clients N] [--seed N]

EVIDENCE is a folder that `ledger-benchmark --export FOLDER COUNT` wrote. A throwaway PostgreSQL is started; the servers are behind one
TCP proxy, which gives a connection to a server that accepts it. In each round clients send purchases until the strike: SIGKILL of one
server or of all, or PostgreSQL restarted, crashed or killed. The other servers continue: an answer is 200, or 503 with
`Retry-After` while PostgreSQL is down. Purchases without an answer are sent again. After each round the database must have every
purchase that was answered with 200, each granted once. A webhook gets the events; at the end every event must have arrived,
the first arrivals of each customer in their order, and `assay audit verify` and `assay rebuild` must find nothing.
"""
import argparse
import asyncio
import collections
import os
import random
import signal
import subprocess
import tempfile

from purchase_load import PurchaseServer, purchase_head, read_answer, requests
from webhook_receiver import WebhookReceiver

HERE = os.path.dirname(os.path.abspath(__file__))
# The lease of a killed server must end before another one delivers, which takes a minute.
DELIVERY_LIMIT = 600
STRIKES = ["one server", "one server", "one server", "all servers", "restart", "crash", "kill PostgreSQL"]


class PostgreSQL:
    """A throwaway PostgreSQL, which ends with this process."""

    def __init__(self):
        lines = subprocess.run(
            [os.path.join(HERE, "throwaway-postgres.sh"), str(os.getpid())], check=True, capture_output=True,
            text=True).stdout.split("\n")
        self.folder, self.port, self.programs = lines[0], int(lines[1]), lines[2]
        subprocess.run([f"{self.programs}/createdb", *self.place, "--template", "template0", "assay"], check=True)

    @property
    def place(self):
        return ["-h", self.folder, "-p", str(self.port), "-U", "assay"]

    def control(self, *arguments):
        subprocess.run([f"{self.folder}/control", *arguments], check=True, capture_output=True)

    def strike(self, what):
        """Ends the server, and starts it again."""
        if what == "restart":
            self.control("restart", "-m", "fast")
            return
        if what == "crash":
            self.control("stop", "-m", "immediate")
        else:
            with open(f"{self.folder}/data/postmaster.pid") as file:
                os.kill(int(file.readline()), signal.SIGKILL)
        for attempt in range(100):
            # The processes of the killed one notice it, and the next one waits for them.
            try:
                return self.control("start")
            except subprocess.CalledProcessError:
                if attempt == 99:
                    raise

    def rows(self, *queries):
        """The rows of queries of one committed state."""
        text = "BEGIN ISOLATION LEVEL REPEATABLE READ;\n" + "\n".join(f"{query};\n\\echo ---" for query in queries)
        output = subprocess.run(
            [f"{self.programs}/psql", *self.place, "-qAt", "-F", " ", "-v", "ON_ERROR_STOP=1", "assay"], input=text,
            check=True, capture_output=True, text=True).stdout
        return [[line.split(" ") for line in part.strip().split("\n") if line] for part in output.split("---\n")[:-1]]


class Proxy:
    """Gives each connection to the next server that accepts it, as a load balancer does."""

    def __init__(self):
        self.ports = []
        self.next = 0

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        try:
            await self.forward(reader, writer)
        except asyncio.CancelledError:
            pass  # The round is over.

    async def forward(self, reader, writer):
        for _ in self.ports:
            self.next += 1
            try:
                there = await asyncio.open_connection("127.0.0.1", self.ports[self.next % len(self.ports)])
                break
            except OSError:
                continue
        else:
            return writer.close()
        await asyncio.gather(self.copy(reader, there[1]), self.copy(there[0], writer))

    async def copy(self, reader, writer):
        try:
            while content := await reader.read(1 << 16):
                writer.write(content)
                await writer.drain()
        except (OSError, asyncio.CancelledError):
            pass  # The other side is gone, or the round is over.
        writer.close()


class Round:
    """The clients of one round, until the strike and a moment after it."""

    def __init__(self, proxy, key, work):
        self.proxy, self.work, self.head = proxy, work, purchase_head(key)
        self.answers, self.sent, self.refused, self.after = [], set(), 0, 0
        self.isOver = self.isStruck = False

    async def client(self):
        while not self.isOver:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.proxy.port)
            except OSError:
                await asyncio.sleep(0.02)
                continue
            try:
                await self.purchases(reader, writer)
            except (OSError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.02)
            writer.close()

    async def purchases(self, reader, writer):
        while not self.isOver:
            transaction, body = next(self.work)
            self.sent.add(transaction)
            while True:
                writer.write(self.head + str(len(body)).encode() + b"\r\n\r\n" + body)
                await writer.drain()
                status, head, content = await read_answer(reader)
                if status == 200:
                    self.answers.append((transaction, content))
                    self.after += self.isStruck
                    break
                if status != 503 or b"retry-after:" not in head.lower():
                    raise SystemExit(f"transaction {transaction} was answered {status}: {content}")
                self.refused += 1
                await asyncio.sleep(0.1)
                if self.isOver:
                    return

    async def run(self, clients, seconds, strike, rest):
        tasks = [asyncio.create_task(self.client()) for _ in range(clients)]
        await asyncio.sleep(seconds)
        await asyncio.get_running_loop().run_in_executor(None, strike)
        self.isStruck = True
        # The servers that are still running answer again on their own.
        for _ in range(300):
            await asyncio.sleep(0.1)
            if not rest or self.after > 0:
                break
        await asyncio.sleep(0.2)
        self.isOver = True
        done, pending = await asyncio.wait(tasks, timeout=60)
        if pending:
            raise SystemExit("a client waits for an answer longer than a minute")
        for task in done:
            task.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("evidence")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--clients", type=int, default=48)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    chance = random.Random(options.seed)
    print(f"seed {options.seed}, {options.servers} servers", flush=True)
    waiting = dict(requests(os.path.join(options.evidence, "signed.ndjson")))
    answered, unanswered = {}, set()
    figures = collections.Counter()
    postgres = PostgreSQL()
    url = f"postgres:///assay?host={postgres.folder}&port={postgres.port}&user=assay"
    with tempfile.TemporaryDirectory(prefix="assay-kill-") as folder:
        receiver = WebhookReceiver()
        world = PurchaseServer(os.path.abspath(options.program), options.evidence, folder, receiver.settings, url)
        servers = [world.start_another() for _ in range(options.servers)]
        world.wait_for_webhook()
        for number in range(options.rounds):
            what = chance.choice(STRIKES)
            victims = {"one server": [chance.randrange(options.servers)], "all servers": range(options.servers)}.get(what, [])

            def strike():
                for victim in victims:
                    servers[victim].process.kill()
                    if servers[victim].process.wait() != -signal.SIGKILL:
                        raise SystemExit(f"round {number}: a server had ended before")
                if not victims:
                    postgres.strike(what)

            order = sorted(waiting, key=lambda transaction: transaction not in unanswered)
            proxy = Proxy()

            async def run():
                await proxy.start()
                proxy.ports = [server.port for server in servers]
                current = Round(proxy, world.key, iter([(transaction, waiting[transaction]) for transaction in order]))
                await current.run(options.clients, chance.uniform(0.1, 1.0), strike, what != "all servers")
                return current

            try:
                current = asyncio.run(run())
            except RuntimeError:
                raise SystemExit("give it more evidence")
            if what != "all servers" and current.after == 0:
                raise SystemExit(f"round {number}: after the strike ({what}) nobody answered any more")
            for transaction, content in current.answers:
                if content["replayed"]:
                    figures["answered as replays"] += 1
                    if transaction not in unanswered | current.sent:
                        raise SystemExit(f"{transaction} is a replay, but was never sent before")
                answered[transaction] = content["submission_id"].replace("-", "")
                waiting.pop(transaction, None)
            figures[f"strikes: {what}"] += 1
            figures["refused with 503 and Retry-After"] += current.refused
            lots, grants, entries, balance = postgres.rows(
                "SELECT transactions.transaction_id, count(*) FROM lots "
                "JOIN transactions ON transactions.original_key = lots.ground GROUP BY 1",
                "SELECT transactions.transaction_id, count(*) FROM events "
                "JOIN transactions USING (transaction_key) WHERE type = 'granted' GROUP BY 1",
                "SELECT encode(entry_id, 'hex') FROM journal", "SELECT coalesce(sum(balance), 0) FROM entitlements")
            lots, grants = dict(lots), dict(grants)
            entries = {row[0] for row in entries}
            missing = [transaction for transaction, entry in answered.items()
                       if lots.get(transaction) != "1" or entry not in entries]
            twice = [transaction for transaction, count in grants.items() if count != "1"]
            if missing or twice or set(grants) != set(lots) or int(balance[0][0]) != len(lots):
                raise SystemExit(
                    f"round {number} ({what}): answered and missing {missing[:5]}, granted twice {twice[:5]}, "
                    f"{len(lots)} lots, {len(grants)} grants, balance {balance}")
            unanswered = (unanswered | current.sent) - set(answered)
            between = set(lots) & unanswered
            figures["committed without an answer"] += len(between)
            figures["rounds with a commit without an answer"] += 1 if between else 0
            for victim in victims:
                servers[victim] = world.start_another()
            print(f"round {number + 1}: {what}, {len(answered)} answered, {len(between)} committed without an answer, "
                  f"{current.refused} refused meanwhile, {current.after} answered after the strike", flush=True)
        before = len(receiver.ids)
        events, = postgres.rows(
            "SELECT 'evt_' || encode(entry_id, 'hex') || '_' || event_key FROM events JOIN journal USING (entry_key)")
        receiver.wait({row[0] for row in events}, DELIVERY_LIMIT)
        for server in servers:
            server.stop()
        receiver.close()
        print(f"{options.rounds} strikes: {len(answered)} purchases answered, all there, none granted twice")
        for name, count in sorted(figures.items()):
            print(f"  {name}: {count}")
        print(f"webhook: all {len(events)} events arrived in the order of each customer, {before} of them between the strikes; "
              f"{len(receiver.arrivals) - len(receiver.ids)} more than once")
        world.check_record(["audit", "verify"], ["rebuild"])


if __name__ == "__main__":
    main()
