"""What things cost the server, in one unit: the processor time of one P-256 verification by OpenSSL, in the same run."""
import itertools
import json
import multiprocessing
import os
import pathlib
import re
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid

from loads.sender import Sender, beside, fail, minted, percentile, post, times
from servers import BUNDLE, CLUB, COINS, DEV, UNLIMITED, PostgreSQL, SQLite, Store, World, ask, write_secret

CONNECTIONS = 64


def unit(seconds=3):
    """The processor time of one verification by `openssl speed ecdsap256`, in seconds."""
    output = subprocess.run(["openssl", "speed", "-seconds", str(seconds), "ecdsap256"], capture_output=True, text=True, check=True).stdout
    return 1 / float(re.search(r"256 bits ecdsa \(nistp256\).* ([0-9.]+)\s*$", output, re.M).group(1))


def print_unit(_):
    print(f"The unit, one P-256 verification by OpenSSL: {unit() * 1e6:.1f} µs of processor time")


class Rows:
    """A table of costs in units. The unit is measured before and after; a cost is printed by the mean of both."""

    def __init__(self):
        self.before, self.rows = unit(), []

    def add(self, name, seconds, reference=None, note=""):
        """A cost in seconds of processor time, and the name of the row that its second column is relative to."""
        self.rows.append((name, seconds, reference, note))
        print(f"  {name}: {seconds * 1e6:.0f} µs", file=sys.stderr, flush=True)

    def print(self):
        after = unit()
        mean, seconds = (self.before + after) / 2, {name: cost for name, cost, *_ in self.rows}
        print(f"\nThe unit, one P-256 verification by {subprocess.run(['openssl', 'version'], capture_output=True, text=True).stdout.split(' (')[0]}: "
              f"{self.before * 1e6:.1f} µs of processor time before, {after * 1e6:.1f} µs after.\n")
        print("| processor time | units | ms | ratio | |\n|---|---:|---:|---:|---|")
        for name, cost, reference, note in self.rows:
            ratio = f"{cost / seconds[reference]:.2f} to {reference}" if reference in seconds else ""
            print(f"| {name} | {cost / mean:.1f} | {cost * 1000:.3f} | {ratio} | {note} |")


def used(world):
    """The processor time of the servers, and of their database if it is a server."""
    return sum(server.processor_seconds() for server in world.servers) + world.database.processor_seconds()


def cost(world, requests, connections=CONNECTIONS, expected=200):
    """The processor time of each request."""
    contents = {}
    sender = Sender([world.servers[0].port], connections, lambda _, status, __, content, ___: contents.setdefault(status, content))
    before = used(world)
    sender.run((None, each) for each in requests)
    if set(sender.statuses) != {expected}:
        raise SystemExit(f"answers {sender.statuses} instead of {expected}: {contents}")
    return (used(world) - before) / len(sender.seconds)


def units(options):
    """The rows of Benchmarks/README.md, each after some requests that are not counted."""
    rows, count = Rows(), options.count
    if os.access(options.reference, os.X_OK):
        microseconds, *_ = subprocess.run([options.reference], capture_output=True, text=True, check=True).stdout.split()
        rows.add("the reference loop", float(microseconds) / 1e6, note="the writer of e11ec4db's rows, 32 purchases a commit")
    with minted(options) as (signer, world):
        claims = [signer.claim(number) for number in range(count + 200)]

        def buy(world, name):
            world.start()
            requests = [post("/v1/purchases", each, world.key) for each in claims]
            cost(world, requests[:200])
            empty = world.database.bytes()
            rows.add(name, cost(world, requests[200:]), "the reference loop",
                     f"{(world.database.bytes() - empty) / count:.0f} bytes kept for a purchase")

        buy(world, name := "durable signed purchase over HTTP")
        members = range(10 ** 6, 10 ** 6 + min(count, 10_000))
        rows.add("durable signed subscription over HTTP",
                 cost(world, [post("/v1/purchases", signer.claim(number, CLUB), world.key) for number in members]), name)
        renewals = [post("/notifications/v2", signer.renewal(number)) for number in members]
        cost(world, renewals[:100])
        rows.add("renewal by notification, three signatures", cost(world, renewals[100:]), name)
        for last in (50, 950):
            rows.add(f"claim of period {last} of one original", claim_of_period(world, signer, last, options.originals), name)
        allocations(options, world.folder, signer)
        known, signed, alone = known_receipts(options, world.folder, 50)
        rows.add(name := "/verifyReceipt of a receipt that the ledger knows", known, "/verifyReceipt without a ledger")
        rows.add("/verifyReceipt of a signed transaction that the ledger knows", signed, name)
        rows.add("/verifyReceipt without a ledger", alone)
        world.stop()
        entries = int(world.database.rows("SELECT count(*) FROM journal")[0][0][0])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        world.check_record()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        rows.add("audit verify, for each entry", (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / entries, name,
                 f"{entries} entries")
        try:
            database = PostgreSQL("fsync=on", "full_page_writes=on", "max_wal_size=4GB")
        except subprocess.CalledProcessError as error:
            if error.returncode != 3:
                raise
            print("PostgreSQL is not installed, so it is not measured.")
        else:
            second = World(options.program, world.folder, signer.trust, database)
            buy(second, "the same on PostgreSQL, with its processes")
            second.stop()
    rows.print()


def allocations(options, folder, signer):
    """What one client's claims take from the heap on the thread that writes, counted by a library in C that is preloaded."""
    library, counts, count = os.path.join(folder, "allocations.so"), os.path.join(folder, "allocations"), min(options.count, 1000)
    if subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, DEV / "loads/allocations.c", "-ldl"]).returncode:
        return print("Allocations are not counted: there is no C compiler.")
    place = os.path.join(folder, "counted")
    os.mkdir(place)
    world, found = World(options.program, place, signer.trust), []
    claims = [post("/v1/purchases", signer.claim(number), world.key) for number in range(2 * count)]
    for part in (claims[:1], claims[1:count + 1]):
        world.start("error", LD_PRELOAD=library, ASSAY_ALLOCATIONS=counts)
        cost(world, part, 1)
        world.stop()
        with open(counts) as file:
            found.append([int(number) for number in file.read().split()[-3:]])
    # The server's own transactions are those of the first run, which has one claim.
    transactions, calls, size = ((more - less) / (count - 1) for more, less in zip(found[1], found[0]))
    print(f"\nA claim on the writer's thread: {calls:.0f} allocations, {size:.0f} bytes, in {transactions:.2f} transactions (one client).")


def claim_of_period(world, signer, last, originals):
    """The cost of the claim of a period by the customer whose account token its subscription has. The earlier ones came by notifications,
    because a claim of what has expired is refused."""
    claims, backend = [], world.new_key("backend")
    # Seven transaction ids lie between two numbers, and each original needs as many as it has periods.
    for number in range(last * 10 ** 5, last * 10 ** 5 + originals * last, last):
        token = str(uuid.uuid4())
        ask(world.servers[0].address, f"/v1/customers/customer-{number}/app_account_token", {"app_account_token": token}, backend, "PUT")
        periods = [signer.period(number, place, last, token) for place in range(1, last + 1)]
        cost(world, [post("/notifications/v2", signer.notification("DID_RENEW", each)) for each in periods[:-1]], 1)
        claims.append(post("/v1/purchases", signer.claim(number, CLUB, periods[-1]), world.key))
    return cost(world, claims, 1)


# MARK: verifyReceipt with the ledger's state

class Shop:
    """Receipts of a simulated store that sells subscriptions, and the notifications of all of them."""

    def __init__(self, program, folder, count):
        store = Store(program, folder, "--environment-names", "apple")
        self.trust, self.requests, self.signed, self.notifications, number = store.trust, [], [], [], 0
        store.sell((CLUB, True))
        for customer in range(count):
            store.control("customers", {"customer_id": f"customer-{customer}", "environment": "production"})
            evidence = store.buy(CLUB, f"customer-{customer}")["evidence"]
            for name, requests in (("app_receipt", self.requests), ("signed_transaction", self.signed)):
                requests.append(post("/verifyReceipt", json.dumps({"receipt-data": evidence[name].replace("\n", "")}).encode()))
        while (payload := store.notification(number := number + 1)) is not False:
            self.notifications += [post("/notifications/v2", json.dumps({"signedPayload": payload}).encode())] if payload else []
        store.stop()


def served(options, folder, shop, name, database=None):
    """A server that was told the notifications; without a database one that does not know the app."""
    place = pathlib.Path(folder, name)
    place.mkdir()
    world = World(options.program, place, shop.trust, database)
    if name == "alone":
        (place / "assay.yaml").write_text(
            f"server: {{ trust: [{shop.trust}] }}\nlimits: {{ per_address: {{ per_second: 1000000, burst: 1000000 }} }}\n")
    server = world.start()
    if name != "alone":
        Sender([server.port], 1).run((None, each) for each in shop.notifications)
    return world


def known_receipts(options, folder, count):
    """The processor time of an answer with state to a receipt and to a signed transaction, and of one without a ledger, in turns."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        shop = Shop(options.program, place, count)
        known, alone = (served(options, place, shop, name, SQLite(place, f"{name}.sqlite")) for name in ("known", "alone"))
        parts, heads = [(known, shop.requests, []), (known, shop.signed, []), (alone, shop.requests, [])], []
        Sender([known.servers[0].port], 1, lambda _, __, head, ___, ____: heads.append(head.lower())).run(
            (None, each) for each in shop.requests + shop.signed)
        fail(["an answer has no state of the ledger"] * any(b"assay-state: live" not in head for head in heads))
        for _ in range(6):
            for world, requests, found in parts:
                found.append(cost(world, list(itertools.islice(itertools.cycle(requests), options.count // 5)), 16))
        for world in (known, alone):
            world.stop(at_once=True)
        # The first round is not counted.
        return [percentile(found[1:], 0.5) for _, _, found in parts]


def stops(options):
    """How long answers of verifyReceipt take while PostgreSQL is stopped, locked and killed, and while the file of SQLite is locked. Every
    answer must have its state; the longest is printed beside that without a database, which is the noise of the machine."""
    quarter, bad = options.seconds / 4, []
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(options.program, folder, 100)
        file, postgres = SQLite(folder, "state.sqlite"), PostgreSQL()
        alone = served(options, folder, shop, "alone", SQLite(folder, "alone.sqlite"))
        sqlite, remote = served(options, folder, shop, "sqlite", file), served(options, folder, shop, "postgresql", postgres)

        def stopped():
            postgres.signal(signal.SIGSTOP)
            time.sleep(2 * quarter)
            postgres.signal(signal.SIGCONT)

        def locked_file():
            other = sqlite3.connect(file.path, timeout=30, isolation_level=None)
            other.execute("BEGIN EXCLUSIVE")
            time.sleep(2 * quarter)
            other.close()

        locked = lambda: postgres.sql(f"BEGIN; LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep({2 * quarter}); COMMIT")
        print("| while | answers | median, ms | 99 %, ms | longest, ms | without a state |\n|---|---:|---:|---:|---:|---:|")
        for name, world, during in (
                ("there is no database to ask", alone, None), ("SQLite answers", sqlite, None),
                ("another process locks the file of SQLite", sqlite, locked_file), ("PostgreSQL answers", remote, None),
                ("PostgreSQL is stopped and goes on", remote, stopped), ("a table of PostgreSQL is locked", remote, locked),
                ("PostgreSQL is killed", remote, lambda: postgres.signal(signal.SIGKILL))):
            without, end = [], time.monotonic() + options.seconds

            def note(_, status, head, content, __):
                if not re.search(rb"(?i)assay-state: [a-z]", head) or b'"status":0}' not in content[-12:]:
                    without.append(status)

            sender = Sender([world.servers[0].port], 16, note)
            event = beside(lambda: (time.sleep(quarter), during and during()))
            sender.run(((None, each) for each in itertools.cycle(shop.requests)), is_over=lambda: time.monotonic() > end)
            event.result()
            print(f"| {name} | {len(sender.seconds)} |", *(f"{each:.1f} |" for each in times(sender.seconds)), f"{len(without)} |", flush=True)
            bad += [name] * bool(without and world is not alone)
        for world in (alone, sqlite, remote):
            world.stop(at_once=True)
    fail([f"answers without a state, or of another status, while {bad}"] * bool(bad))


# MARK: delays at a steady rate

def steady(name, port, requests, rate, connections):
    """Sends requests at a rate, prints how long their answers took, and returns that and the statuses."""
    sender = Sender([port], connections)
    skipped = sender.run(((None, each) for each in requests), rate)
    found = times(sender.seconds)
    print(f"| {name} |", *(f"{each:.1f} |" for each in found), f"{dict(sender.statuses)}, {skipped} without a connection |", flush=True)
    return found, set(sender.statuses)


def flood(options):
    """How 5,000 forgeries a second, half of them with certificates that were never seen, delay 200 refunds a second. With --limit it fails if
    they delay the median, the 99th percentile or the slowest answer by more than so many ms."""
    count = int(200 * options.seconds)
    with minted(options) as (signer, world):
        port = world.start().port
        cost(world, [post("/v1/purchases", signer.claim(number), world.key) for number in range(2 * count)])
        genuine = [signer.refund(number) for number in range(2 * count)]
        forged = [post("/notifications/v2", each) for each in signer.forgeries(genuine[:1000])]
        requests = [post("/notifications/v2", each) for each in genuine]

        def forge():
            Sender([port], 128).run(((None, each) for each in itertools.islice(itertools.cycle(forged), int(5000 * options.seconds))), 5000)

        print("| | p50, ms | p99, ms | max, ms | answers |\n|---|---:|---:|---:|---|")
        alone, answers = steady("alone", port, requests[:count], 200, 32)
        forger = multiprocessing.Process(target=forge, daemon=True)
        forger.start()
        flooded, more = steady("beside forgeries", port, requests[count:], 200, 32)
        if answers | more != {200}:
            raise SystemExit("a genuine notification was not answered 200")
        forger.join(60)
    most = max(late - early for early, late in zip(alone, flooded))
    print(f"The flood delays genuine notifications by at most {most:.1f} ms")
    fail(["the flood delays genuine notifications too long"] * (0 < options.limit < most))


def merges(options):
    """How 20 merges a second, as of apps that merge at each login, delay 100 claims a second, on SQLite and PostgreSQL; and how long a merge
    of many purchases takes."""
    count = int(options.seconds * 20)
    print("| | p50, ms | p99, ms | max, ms | answers |\n|---|---:|---:|---:|---|")
    for engine in (None, PostgreSQL()):
        with minted(options, database=engine, scope="backend") as (signer, world):
            name, port, each = type(world.database).__name__, world.start().port, 100 * int(options.seconds)
            claims = [post("/v1/purchases", signer.claim(number, customer=f"user-{number % 50}"), world.key) for number in range(2 * each)]
            guests = range(2 * each, 2 * each + count)
            cost(world, [post("/v1/purchases", signer.claim(number, customer=f"guest-{number}"), world.key) for number in guests])
            many = range(10 ** 6, 10 ** 6 + options.purchases)
            cost(world, [post("/v1/purchases", signer.claim(number, customer="many"), world.key) for number in many])
            steady(f"{name}, claims alone", port, claims[:each], 100, 32)
            logins = [post(f"/v1/customers/guest-{number}/merge", b'{"into":"user-%d"}' % (number % 50), world.key) for number in guests]
            merging = beside(Sender([port], 8).run, ((None, each) for each in logins), 20)
            _, answers = steady(f"{name}, claims beside merges", port, claims[each:], 100, 32)
            merging.result(60)
            if answers != {200}:
                raise SystemExit("a claim was not answered 200")
            start = time.monotonic()
            world.run("customers", "merge", "--reason", "load", "--hold-writes", "many", "user-1")
            print(f"{name}: a merge of {options.purchases} purchases takes {time.monotonic() - start:.1f} s with the start of the program", flush=True)

def realtime(options):
    """Realtime requests of the Retention Messaging API, at a rate: a message, another product, and an offer that is looked up, recorded and
    signed. Apple waits 700 ms. With --limit it fails if a 99th percentile is above so many ms."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from loads.evidence import body
    messages, count, late = [str(uuid.uuid4()) for _ in range(3)], int(options.rate * options.seconds), []
    settings = f"""      {CLUB}.yearly: {{ kind: auto_renewable }}
    apple_id: 1234567890
    app_store_keys: [{{ issuer_id: issuer, key_id: KEY, private_key_file: AuthKey.p8 }}]
    offers: {{ promotional: {{ stay: {{ products: [{CLUB}], audience: subscribers, limit: 1 }} }} }}
    retention:
      - {{ locales: [de], message: {messages[0]} }}
      - {{ locales: [fr], message: {messages[1]}, alternate_product: {CLUB}.yearly }}
      - {{ message: {messages[2]}, promotional_offer: stay, otherwise: {messages[0]} }}
"""
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    with minted(options, more=settings, files={"AuthKey.p8": key}) as (signer, world):
        port, customers = world.start().port, count // 2
        cost(world, [post("/v1/purchases", signer.claim(number, CLUB), world.key) for number in range(customers)])

        def request(number, locale):
            return post("/retention/realtime", body(signer.sign({
                "originalTransactionId": signer.transaction(number % customers, CLUB)["transactionId"], "appAppleId": 1234567890,
                "productId": CLUB, "userLocale": locale, "requestIdentifier": str(uuid.uuid4()), "environment": "Sandbox",
                "signedDate": int(time.time() * 1000)})))

        print("| | p50, ms | p99, ms | max, ms | answers |\n|---|---:|---:|---:|---|")
        for name, locale in [("message", "de-DE"), ("another product", "fr-FR"), ("offer, half of them given", "en-US")]:
            found, answers = steady(name, port, [request(number, locale) for number in range(count)], options.rate, 64)
            late += [f"{name}: late, or other answers than 200"] * (found[1] > (options.limit or 1e9) or answers != {200})
    fail(late)


# MARK: imports

def numbers(options):
    """Imports numbers alone against the simulator's App Store Server API: some at Apple's limits, 100 ms a call, which the simulator enforces,
    and many with limits that are a hundred times as high, killed three times and run again. It fails if the first took 10 % longer than the
    import said before, the last part 10 % longer or shorter than it said at last, or if a purchase is missing or there twice."""
    failures, units_of_time = [], {"h": 3600, "min": 60, "s": 1, "ms": 0.001}

    def seconds(text):
        return sum(float(number) * units_of_time[name] for number, name in re.findall(r"([0-9.]+) (h|min|ms|s)\b", text))

    with tempfile.TemporaryDirectory(prefix="assay-numbers-") as folder:
        store = Store(options.program, folder)
        store.sell((CLUB, True))
        key = store.control("api-keys", {})
        write_secret(f"{folder}/AuthKey.p8", key["private_key"].encode())

        def world(percent):
            return World(options.program, folder, store.trust, more=f"""\
    app_store_keys: [{{ issuer_id: {key['issuer_id']}, key_id: {key['key_id']}, private_key_file: AuthKey.p8 }}]
app_store: {{ server_api_production: {store.address}, server_api_sandbox: {store.address}/sandbox, server_api_limit_percent: {percent} }}
""")

        def sell(count, name):
            sold = store.control("purchases/crowd", {
                "bundle_id": BUNDLE, "product_id": CLUB, "prefix": name, "count": count, "environment": "production"})["purchases"]
            with open(f"{folder}/{name}.csv", "w") as rows:
                rows.write("customer_id,original_transaction_id\n")
                rows.writelines(f"user-{one['customer_id']},{one['transaction_id']}\n" for one in sold)

        def imports(name):
            return "import", "--app", "example", "--consumables", "delivered", f"{name}.csv"

        def count(current):
            return int(current.database.rows("SELECT count(*) FROM transactions")[0][0][0])

        def run(current, *arguments, kill_at=None):
            """The output and the time of a command, which is killed when so many purchases are there."""
            begin = time.monotonic()
            with open(f"{folder}/report", "w+") as report:
                process = subprocess.Popen(current.command(*arguments), cwd=folder, stdout=report, stderr=report)
                while process.poll() is None:
                    if kill_at and count(current) >= kill_at:
                        process.kill()
                    time.sleep(0.1)
                report.seek(0)
                output = report.read()
            if process.returncode and not kill_at:
                raise SystemExit(f"{arguments[0]} ended with {process.returncode}: {output[-2000:]}")
            return output, time.monotonic() - begin

        def said(output):
            first = seconds(re.search(r"fetching takes (.*) at Apple's limits", output).group(1))
            later = re.findall(r"numbers took (.*); at this pace the rest takes (.*)", output)
            return first, sum(map(seconds, later[-1])) if later else first

        current = world(100)
        current.start(), current.stop()
        sell(options.count, "first")
        store.control("faults/server-api", {"kind": "latency", "milliseconds": 100, "count": 2 * options.count + 100})
        output, taken = run(current, *imports("first"))
        print(f"import of {options.count} numbers at Apple's limits: {taken:.1f} s", flush=True)
        if taken > said(output)[0] * 1.1:
            failures.append(f"the import took {taken:.1f} s and said {said(output)[0]:.1f} s")
        print(f"backfill of them: {run(current, 'import', 'backfill', '--app', 'example', '--all')[1]:.1f} s", flush=True)
        current.check_record()
        if options.raised:
            current = world(10_000)
            store.control("server-api/limits", {"factor": 100})
            sell(options.raised, "second")
            for part in range(1, 4):
                _, taken = run(current, *imports("second"), kill_at=options.count + options.raised * part // 5)
                print(f"killed after {taken:.1f} s with {count(current) - options.count} purchases", flush=True)
            output, taken = run(current, *imports("second"))
            print(f"{options.raised} numbers, limits raised a hundredfold: {taken:.1f} s after the last kill, said {said(output)[1]:.1f} s")
            if abs(taken / said(output)[1] - 1) > 0.1:
                failures.append("the raised import took another time than it said at last")
            print(f"the same again: {run(current, *imports('second'))[1]:.1f} s, nothing is asked")
        if count(current) != options.count + options.raised:
            failures.append(f"the ledger has {count(current)} purchases of {options.count + options.raised}")
        current.check_record()
        store.stop()
    fail(failures)


def streams(options):
    """Memory of a server with open streams of events, and without."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    settings = f"""\
limits: {UNLIMITED.replace("{", "{ connections_per_address: 4096,", 1)}
apps: {{ example: {{ bundle_ids: com.example.app, products: {{ {COINS}: {{ kind: consumable }} }} }} }}
"""
    with tempfile.TemporaryDirectory(prefix="assay-streams-") as folder:
        world = World(options.program, folder, scope="backend", settings=settings)
        # A key has at most ten.
        keys = [world.new_key("backend") for _ in range((options.count + 9) // 10)]
        server = world.start()

        def order(customer):
            status, answer = ask(server.address, "/v1/orders", {"customer_id": customer, "product_id": COINS}, key=world.key)
            if status >= 300:
                raise SystemExit(f"an order was answered {status}: {answer}")

        def read(connection, text):
            found = b""
            while text not in found:
                part = connection.recv(1 << 16)
                if not part:
                    raise SystemExit(f"a stream ended with {found[-300:]}")
                found += part

        order("the first")
        before, opened = server.resident(), []
        for number in range(options.count):
            opened.append(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            head = f"GET /v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {keys[number // 10]}\r\n\r\n"
            opened[-1].sendall(head.encode())
            read(opened[-1], b"id: ")
        begin = time.monotonic()
        order("the last")
        for connection in opened:
            read(connection, b"the last")
        taken, after = time.monotonic() - begin, server.resident()
        print(f"{options.count} streams: {before:.1f} MB before, {after:.1f} MB with them; an event reached all after {taken:.2f} s")
        world.stop(at_once=True)
    fail([f"the streams take {after - before:.1f} MB"] if after - before > options.limit else [])
