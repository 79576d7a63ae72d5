#!/usr/bin/env python3
"""Measures realtime requests of the Retention Messaging API: the delay of their answers at a steady rate.

usage: realtime_load.py PROGRAM [--rate N] [--seconds N] [--log-level LEVEL] [--limit-ms MS]

Needs the package `cryptography` from PyPI. Apple waits 700 ms for an answer. Every request has a signature of its own.
The delay is counted from when a request was due, whether or not earlier ones were answered. Three rules are measured:
a message, another product, and a promotional offer, which is looked up, recorded and signed for the owner of the
subscription. Each customer may have the offer once, so the first request of each is answered with it, and all others
with the message for those who may not have it.

With --limit-ms the status is 1 if the 99th percentile of any rule is above it, or if an answer is not 200.
"""
import argparse
import os
import sys
import tempfile
import time
import uuid

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from minted_notifications import CLUB, NotificationMint, body
from notification_flood import Measurement, notification_head, processor_seconds, request, Connections
from purchase_load import PurchaseServer, purchase_head

APPLE_ID = 1_234_567_890
MESSAGES = [str(uuid.uuid4()) for _ in range(3)]
SETTINGS = f"""      {CLUB}: {{ kind: auto_renewable }}
      {CLUB}.yearly: {{ kind: auto_renewable }}
    apple_id: {APPLE_ID}
    app_store_keys:
      - {{ issuer_id: issuer, key_id: KEY, private_key_file: AuthKey.p8 }}
    offers:
      promotional:
        stay: {{ products: [{CLUB}], audience: subscribers, limit: 1 }}
    retention:
      - locales: [de]
        message: {MESSAGES[0]}
      - locales: [fr]
        message: {MESSAGES[1]}
        alternate_product: {CLUB}.yearly
      - message: {MESSAGES[2]}
        promotional_offer: stay
        otherwise: {MESSAGES[0]}
"""


def realtime(mint, number, locale):
    """A request of now about the subscription of a customer."""
    transaction = mint.transaction(number, CLUB)
    return body(mint.sign({
        "originalTransactionId": transaction["originalTransactionId"], "appAppleId": APPLE_ID, "productId": CLUB,
        "userLocale": locale, "requestIdentifier": str(uuid.uuid4()), "environment": "Sandbox",
        "signedDate": int(time.time() * 1000)}))


def paced(port, bodies, rate):
    """Sends the requests at a rate. Returns the answers by status, the delays, and the requests without a connection."""
    head = notification_head("/retention/realtime")
    requests = [request(head, text) for text in bodies]
    sender = Connections(port, 64)
    start, skipped = time.monotonic(), 0
    for place, data in enumerate(requests):
        due = start + place / rate
        while (wait := due - time.monotonic()) > 0:
            sender.receive(wait)
        sender.receive(0)
        if sender.free:
            sender.send(data, due)
        else:
            skipped += 1
    sender.finish()
    return sender.counts, sorted(sender.seconds), skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--log-level", default="error")
    parser.add_argument("--limit-ms", type=float)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    count, limits = int(options.rate * options.seconds), []
    with tempfile.TemporaryDirectory(prefix="assay-realtime-") as folder:
        mint = NotificationMint(program, folder)
        server_folder = os.path.join(folder, "server")
        os.mkdir(server_folder)
        key = os.path.join(server_folder, "AuthKey.p8")
        with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            file.write(ec.generate_private_key(ec.SECP256R1()).private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        server = PurchaseServer(program, mint.folder, server_folder, SETTINGS)
        server.start(options.log_level)
        customers = count // 2
        Measurement(server, purchase_head(server.key), [mint.claim(number, CLUB) for number in range(customers)], 200)
        print(f"{options.rate:.0f} realtime requests a second for {options.seconds:.0f} s, log level {options.log_level}\n")
        print("| | p50, ms | p99, ms | max, ms | answers | server's processor time, µs |")
        print("|---|---:|---:|---:|---|---:|")
        for name, locale in [("message", "de-DE"), ("another product", "fr-FR"), ("offer, half of them given", "en-US")]:
            # The first ones make the certificates known.
            paced(server.server.port, [realtime(mint, 0, "de-DE") for _ in range(50)], options.rate)
            bodies = [realtime(mint, number % customers, locale) for number in range(count)]
            before = processor_seconds(server)
            counts, seconds, skipped = paced(server.server.port, bodies, options.rate)
            used = (processor_seconds(server) - before) / count
            row = [seconds[min(len(seconds) - 1, int(len(seconds) * part))] * 1000 for part in (0.5, 0.99, 1)]
            print(f"| {name} | {row[0]:.1f} | {row[1]:.1f} | {row[2]:.1f} | {counts} | {used * 1e6:.0f} |", flush=True)
            if set(counts) != {200} or skipped:
                limits.append(f"{name}: {counts}, {skipped} requests had no connection")
            if options.limit_ms is not None and row[1] > options.limit_ms:
                limits.append(f"{name}: the 99th percentile is {row[1]:.1f} ms")
        server.server.stop()
        server.check_record(["audit", "verify"])
    for limit in limits:
        print(limit, file=sys.stderr)
    if limits and options.limit_ms is not None:
        sys.exit(1)


if __name__ == "__main__":
    main()
