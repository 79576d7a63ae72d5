"""Servers under long, hostile and expensive load: what it costs them, and whether honest clients notice it."""
import base64
import collections
import concurrent.futures
import itertools
import json
import math
import multiprocessing
import os
import random
import re
import socket
import tempfile
import time

from loads.sender import Sender, beside, fail, minted, percentile, post, probe, times
from servers import BUNDLE, World, ask, mint

MARKS = "\u0301\u0316"


def receipt_of(options, folder, count, *more):
    """A receipt of some purchases, in base64."""
    purchases = [f"--purchase=product=com.example.app.coins,kind=consumable,transaction={number}" for number in range(1, count + 1)]
    return mint(options.program, folder, "--kind", "production", "--bundle-id", BUNDLE, *more, *purchases)


def watch(world, seconds, every, answered, healthy=()):
    """Prints and returns samples of a server: seconds, resident memory and write-ahead log in MB."""
    server, begin, samples, seen = world.servers[0], time.monotonic(), [], 0
    print("| s | answered | resident, MB | open files | database, MB | WAL, MB | /healthz p50, ms | p99, ms |\n|---:|---:|---:|---:|---:|---:|---:|---:|")
    while (rest := begin + seconds - 0.5 - time.monotonic()) > 0:
        time.sleep(min(every, rest))
        (p50, p99), seen = times(list(healthy[seen:]) or [0], 0.5, 0.99), len(healthy)
        wal = world.database.path + "-wal"
        samples.append((time.monotonic() - begin, server.resident(), os.path.getsize(wal) / 1e6 if os.path.exists(wal) else 0))
        print(f"| {samples[-1][0]:.0f} | {answered()} | {samples[-1][1]:.0f} | {len(os.listdir(f'/proc/{server.process.pid}/fd'))} "
              f"| {os.path.getsize(world.database.path) / 1e6:.1f} | {samples[-1][2]:.1f} | {p50:.1f} | {p99:.1f} |",
              flush=True)
    return samples


def soak(options):
    """Buys over 64 connections, and when all were bought, sends the same again, while a reader pages through the submissions. Memory of the
    last quarter is at most 1.25 times that of the second and 32 MB; the log stays below 128 MB, because it is checkpointed at 12,000 pages
    and a reader can hold up a checkpoint for a moment."""
    with minted(options) as (signer, world):
        bodies = [post("/v1/purchases", signer.claim(number), world.key) for number in range(options.purchases)]
        server, backend, end = world.start(), world.new_key("backend"), time.monotonic() + options.minutes * 60

        def read():
            while time.monotonic() < end:
                ask(server.address, "/v1/submissions?limit=200", key=backend)
                time.sleep(1)

        sender = Sender([server.port], 64)
        running = [beside(sender.run, ((None, each) for each in itertools.cycle(bodies)), None, lambda: time.monotonic() > end), beside(read)]
        samples = watch(world, options.minutes * 60, options.minutes * 1.5, lambda: len(sender.seconds))
        for each in running:
            each.result()
        status, wal = world.stop(), world.database.path + "-wal"
        left = os.path.exists(wal) and os.path.getsize(wal)
    quarter = len(samples) // 4
    early, late = (percentile([memory for _, memory, _ in part], 0.5) for part in (samples[quarter:2 * quarter], samples[-quarter:]))
    largest = max(each for *_, each in samples)
    print(f"{sum(sender.statuses.values())} purchases; memory {early:.1f} MB early, {late:.1f} MB late; WAL at most {largest:.1f} MB")
    fail([f"answers {sender.statuses}"] * (set(sender.statuses) != {200}) + ["memory grew"] * (late > 1.25 * early + 32)
         + ["the log is too long"] * (largest > 134) + [f"the server ended with {status}"] * bool(status)
         + ["the log is not empty after the end"] * bool(left))


# MARK: abuse of eight kinds at once

def stranger():
    return f"203.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(256)}"


def abuser():
    """An address of the two networks that the abuse comes from."""
    return random.choice([f"2001:db8:bad:{random.randrange(1 << 16):x}::1", f"198.51.100.{random.randrange(256)}"])


def claim_of(evidence, customer):
    return json.dumps({"receipt_data": evidence, "product_id": "com.example.app.coins", "transaction_id": "1", "customer_id": customer}).encode()


def noise(size):
    return base64.b64encode(random.randbytes(size)).decode()


def from_abuser(path, body, key):
    return post(path, body, key, f"X-Forwarded-For: {abuser()}\r\n")


# Name, requests a second, and a request.
KINDS = [
    ("malformed heads", 20, lambda key, _: random.choice([
        b"GET / HTTP/1.1\r\n\r\n", b"GET /\xcc\x81\xcc\x96 HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
        b"POST /v1/purchases HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"x: y\r\n" * 500 + b"\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", random.randbytes(500) + b"\r\n\r\n"])),
    ("junk restores", 10, lambda key, _: from_abuser("/v1/restores", json.dumps(
        {"customer_id": "junk", "signed_transactions": [noise(12) for _ in range(90)]}).encode(), key)),
    ("junk claims", 2, lambda key, _: from_abuser("/v1/purchases", claim_of(noise(520_000), "junk"), key)),
    ("unknown keys", 20, lambda key, _: from_abuser("/v1/purchases", b"{}", f"assay_{random.randbytes(8).hex()}_{random.randbytes(32).hex()}")),
    ("genuine evidence again", 10, lambda key, evidence: from_abuser(
        "/v1/purchases", claim_of(evidence, f"thief {random.randrange(1 << 40)}"), key)),
]
IDLE = 400


def hold(port, end, counts, kind, pause, data, seconds, trickle=b""):
    """Opens a connection every so many seconds, sends something, and holds it without reading, at most for some seconds."""
    held, due = [], time.monotonic()
    while time.monotonic() < end:
        if time.monotonic() >= due:
            due += pause
            try:
                connection = socket.create_connection(("127.0.0.1", port), timeout=10)
                connection.settimeout(0.2)
                counts[kind, "opened"] += 1
                held.append((time.monotonic() + seconds, connection))
                connection.sendall(data())
            except OSError:
                counts[kind, "cut"] += 1
        for until, connection in list(held):
            try:
                if time.monotonic() > until:
                    raise OSError
                connection.send(trickle)
            except OSError:
                connection.close()
                held.remove((until, connection))
        time.sleep(min(1, pause))


def abuse_all(port, key, evidence, end, results):
    counts, running = collections.Counter(), []
    for kind, rate, request in KINDS:
        sender = Sender([port], 32)
        # A generator would look for the request of its kind when it is asked, after the loop.
        work = map(lambda _, request=request: (None, request(key, evidence)), range(math.ceil((end - time.monotonic()) * rate)))
        running.append((kind, sender, beside(sender.run, work, rate, lambda: time.monotonic() > end)))
    pages = b"GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n" * 8000
    slow = b"POST /verifyReceipt HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n\r\n{"
    halves = [b"", b"GET /healthz HTTP/1.1\r\nHost:"]
    for arguments in (("pipelined", 6, lambda: pages, 20), ("slow bodies", 2, lambda: slow, 60, b" "),
                      ("idle", 0.01, lambda: random.choice(halves), IDLE * 0.01)):
        running.append((None, None, beside(hold, port, end, counts, *arguments)))
    for kind, sender, thread in running:
        concurrent.futures.wait([thread])
        counts.update({(kind, status): count for status, count in sender.statuses.items()} if sender else {})
    results.put(counts)


def abuse(options):
    """Abuses a server in eight ways at once while honest customers buy. It is a trusted proxy, so each client has an address of its own; the
    abuse comes from one /48 of IPv6 and one /24 of IPv4, each kind at a fixed rate, so that the load does not depend on the machine."""
    seconds, reasons = options.minutes * 60, []
    with minted(options, server=", trusted_proxies: [127.0.0.1]",
                limits="{ connections: 256, per_key: { per_second: 100, burst: 200 } }") as (signer, world):
        evidence = receipt_of(options, world.folder, 1, "--authority", "authority")
        server, examples = world.start("critical"), []

        def note(_, status, __, content, ___):
            if status not in (200, 429, 503):
                examples.append(content)

        buyers, health, results = Sender([server.port], 8, note), Sender([server.port], 16), multiprocessing.Queue()
        end = time.monotonic() + seconds
        attacker = multiprocessing.Process(target=abuse_all, args=(server.port, world.key, evidence, end, results), daemon=True)
        attacker.start()
        claims = ((None, post("/v1/purchases", signer.claim(number), world.key, f"X-Forwarded-For: {stranger()}\r\n"))
                  for number in range(1000, 1000 + int(seconds * 2)))
        # A monitor asks over new connections.
        questions = ((None, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") for _ in range(int(seconds * 10)))
        running = [beside(buyers.run, claims, 2), beside(health.run, questions, 10)]
        samples = watch(world, seconds, 5, lambda: sum(buyers.statuses.values()), health.seconds)
        for each in running:
            each.result()
        counts = results.get(timeout=120)
        attacker.join(10)
        status = world.stop()
    baseline = min(300, seconds / 2)
    early, late = (max(memory for at, memory, _ in samples if is_early(at)) for is_early in (lambda at: at <= baseline + 5, lambda at: at >= baseline))
    bought, total = buyers.statuses[200], sum(buyers.statuses.values())
    refused, lost = total - bought - len(examples), health.statuses["lost"]
    p50, p99 = times(health.seconds, 0.5, 0.99)
    print(f"memory: at most {early:.0f} MB in the first {baseline:.0f} s, {late:.0f} MB afterwards")
    print(f"honest purchases: {dict(buyers.statuses)}; /healthz: {len(health.seconds)} answers, p50 {p50:.1f} ms, p99 {p99:.1f} ms, {lost} lost")
    for kind in [name for name, *_ in KINDS] + ["pipelined", "slow bodies", "idle"]:
        outcomes = {outcome: count for (name, outcome), count in counts.items() if name == kind}
        print(f"{kind}: {outcomes}")
        reasons += [f"{kind} did nothing"] * (not outcomes)
    fail(reasons + [f"memory grew by {late - early:.0f} MB"] * (late > early + 64)
         + [f"{refused} of {total} honest purchases were refused for load"] * (refused > total * 0.01 or not total)
         + [f"honest purchases got other answers: {examples[:1]}"] * bool(examples)
         + ["/healthz was late"] * (p99 > 500 or lost * 100 > len(health.seconds)) + [f"the server ended with {status}"] * bool(status))


# MARK: expensive bodies

def attack(options):
    """Asks /healthz every 10 ms while 64 connections send the most expensive known bodies to /verifyReceipt, as fast as possible or at a
    rate of bytes. With --limit it fails if a 99th percentile is beyond so many ms."""
    marks, junk = MARKS.encode(), base64.b64encode(random.Random(1).randbytes(750_000))
    # An ASN.1 sequence of as many of the smallest values as fit.
    nested = base64.b64encode(b"\x30\x83\x0b\x00\x00" + b"\x05\x00" * 360_448)
    reasons = []
    with tempfile.TemporaryDirectory() as folder:
        def receipt(count, *more):
            return json.dumps({"receipt-data": receipt_of(options, folder, count, *more)}).encode()

        bodies = [
            ("nothing is sent", b"", 0), ("a usual receipt", receipt(2), 0),
            ("cross-signed certificates", receipt(1, "--fault", "cross-signed"), 0),
            ("cross-signed certificates, 500 kB/s", receipt(1, "--fault", "cross-signed"), 500_000),
            ("a receipt of 1,000 purchases", receipt(1000), 0),
            ("name of 200 kB of marks", b'{"e' + marks * 50_000 + b'":1}', 0),
            ("name of 600 kB of marks", b'{"e' + marks * 150_000 + b'":1}', 0),
            ("flag of 200 kB of marks", b'{"exclude-old-transactions":"e' + marks * 50_000 + b'"}', 0),
            ("many small values", b'{"a":[' + b"1," * 4000 + b"1]}", 0),
            ("1 MB of escapes", b'{"receipt-data":"' + rb"\u0041" * 170_000 + b'"}', 0),
            ("1 MB of base64 that is no receipt", b'{"receipt-data":"' + junk + b'"}', 0),
            ("1 MB of base64 with white space", b'{"receipt-data":"' + junk.replace(b"A", rb"\n") + b'"}', 0),
            ("1 MB of small ASN.1 values", b'{"receipt-data":"' + nested + b'"}', 0),
        ]
        world = World(options.program, folder, "assay-authority/trust.pem", limits="{}")
        print(f"{'body':36}{'bytes':>10}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'lost':>8}  answers to the attack")
        for name, body, bytes_per_second in bodies:
            server, results, end = world.start("critical"), multiprocessing.Queue(), time.monotonic() + options.seconds + 1

            def send():
                sender = Sender([server.port], 64)
                concurrent.futures.wait([beside(sender.run, itertools.repeat((None, post("/verifyReceipt", body))),
                                                bytes_per_second / len(body) or None, lambda: time.monotonic() > end)], options.seconds + 2)
                results.put(dict(sender.statuses))

            attacker = multiprocessing.Process(target=send, daemon=True)
            if body:
                attacker.start()
            time.sleep(1)
            answered, lost = probe([server.port], options.seconds)
            p50, p99, most = times(answered)
            print(f"{name:36}{len(body):>10,}{p50:>9.1f}{p99:>9.1f}{most:>9.1f}{lost:>8}  {results.get(timeout=30) if body else ''}", flush=True)
            reasons += [f"{name}: p99 {p99:.1f} ms, {lost} lost"] * (options.limit > 0 and (lost > 0 or p99 > options.limit))
            if body:
                attacker.kill()
            world.stop(at_once=True)
    fail(reasons)


# Where text of a client arrives: H is hostile text in UTF-8, P the same in percent-encoding, E in escapes of JSON; <a b> stands for each.
DOORS = """
POST /verifyReceipt {"<H E>":1}
POST /verifyReceipt {"a":{"H":1}}
POST /verifyReceipt {"<receipt-data password exclude-old-transactions>":"H"}
POST /v1/<orders purchases customers/a/consume> {"H":1}
POST /v1/orders {"<customer_id product_id quantity metadata>":"H"}
POST /v1/orders {"customer_id":"a","product_id":"coins","metadata":{"H":"x"}}
POST /v1/orders {"customer_id":"a","product_id":"coins","metadata":{"x":"H"}}
POST /v1/purchases {"<receipt_data signed_transaction product_id transaction_id order_id customer_id>":"H"}
POST /v1/customers/a/consume {"<product_id consumption_id environment>":"H"}
POST /verifyReceipt <Host Connection Expect Content-Type Cookie X-Forwarded-For User-Agent>: H
GET /v1/orders Authorization: H
GET /v1/orders Authorization: Bearer H
GET /v1/orders Authorization: Bearer assay_0123456789abcdef_H
POST /v1/orders Idempotency-Key: H
GET /v1/customers/a/entitlements If-None-Match: H
GET /<H P>
GET /v1/orders/P
GET /v1/orders?H=1
GET /v1/orders?<status customer_id limit cursor>=P
GET /v1/submissions?<verdict code from>=P
"""
SIZES = [1_000, 10_000, 60_000, 200_000, 1_000_000]


def doors():
    for row in DOORS.strip().split("\n"):
        before, _, rest = row.partition("<")
        choices, _, after = rest.partition(">")
        yield from (before + choice + after for choice in choices.split(" ")) if rest else [row]


def hostile_request(door, size, key):
    text = re.sub(r"(?<![A-Za-z-])[HPE](?![A-Za-z-])", lambda kind: "e" + {
        "H": MARKS * (size // 4), "P": "%CC%81%CC%96" * (size // 12), "E": r"\u0301\u0316" * (size // 12)}[kind.group()], door)
    method, target, rest = (text.split(" ", 2) + [""])[:3]
    body = rest if rest.startswith("{") else "{}" if method == "POST" else ""
    heads = [f"{method} {target} HTTP/1.1", "Connection: close"] + [rest] * (rest != "" and not rest.startswith("{"))
    named = {head.split(":")[0] for head in heads}
    defaults = {"Host": "localhost", "Authorization": f"Bearer {key}", "Idempotency-Key": "1", "Content-Length": str(len(body.encode()))}
    heads += [f"{name}: {value}" for name, value in defaults.items() if name not in named and (name != "Content-Length" or body)]
    return "\r\n".join(heads).encode() + b"\r\n\r\n" + body.encode()


def cost(options):
    """The processor time of one byte of hostile text at each route and field, from 1 kB to 1 MB. The text alternates two combining marks whose
    canonical order differs: code that hashes or compares it as a Swift String takes time that grows with the square of its length. A linear
    field costs the same in each column. With --limit it fails if one probe took more than so many ms."""
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        receipt_of(options, folder, 1)
        world = World(options.program, folder, "assay-authority/trust.pem", scope="admin")
        server = world.start()
        print("ns of processor time per byte (status); the last column is the total of the largest size, in ms")
        print(f"{'route and field':84}" + "".join(f"{size:>16,}" for size in SIZES) + f"{'total ms':>12}")
        for door in doors():
            cells = []
            for size in SIZES:
                # Whatever is made once is not counted.
                for data in (hostile_request(door, SIZES[0], world.key), hostile_request(door, size, world.key)):
                    sender, before, begin = Sender([server.port], 1), server.processor_seconds(), time.monotonic()
                    concurrent.futures.wait([beside(sender.run, [(None, data)])], 60)
                    seconds = server.processor_seconds() - before
                status = next(iter(sender.statuses), "")
                if time.monotonic() - begin > 60:
                    seconds = math.inf
                    world.stop(at_once=True)
                    server = world.start()
                cells.append(f"{seconds * 1e9 / len(data):.0f} ({status})")
                worst = max(worst, seconds * 1000)
                if seconds == math.inf:
                    break
            print(f"{door:84}" + "".join(f"{cell:>16}" for cell in cells) + f"{seconds * 1000:>12.1f}", flush=True)
        world.stop(at_once=True)
    print(f"the most expensive probe took {worst:.1f} ms of processor time")
    fail([f"a probe took more than {options.limit} ms"] * (worst > options.limit > 0))
