#!/usr/bin/env python3
"""Measures notifications: how many a second are answered after their commit, and how a flood delays genuine ones.

usage: notification_flood.py PROGRAM [--parts throughput,flood] [--count N] [--seconds N] [--log-level LEVEL]
                             [--limit-ms MS]

Needs the package `cryptography` from PyPI. Everything is signed before it is sent. The senders run on the same machine
as the server, so the figure that carries over best is the processor time of the server for one notification; that of
the senders is printed beside it.

throughput: N refunds of consumables (two signatures) and N renewals (three), each of a purchase that a claim brought
before, over 64 connections. "Verification" is the difference between requests that are verified and not kept (to the
path of another app: 404) and requests of the same length that are refused unread (400).

flood: 200 refunds a second, for N seconds alone and then for N seconds beside 5,000 forgeries a second: half of them
genuine ones with the signature of another, half with cross-signed certificates that were never seen. The delay of an
answer is counted from when its request was due. With --limit-ms the status is 1 if the flood delays the median, the
99th percentile or the slowest answer by more than that, if a genuine notification was not answered 200, or if fewer
than nine tenths of the forgeries were sent.
"""
import argparse
import multiprocessing
import os
import select
import socket
import sys
import tempfile
import time

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from minted_notifications import CLUB, COINS, NotificationMint
from purchase_load import PurchaseServer, purchase_head

CONNECTIONS = 64
FORGERS = 128
GENUINE_RATE = 200
FORGED_RATE = 5000
BATCH_SECONDS = 0.005
CLUB_SETTINGS = f"      {CLUB}: {{ kind: auto_renewable }}\n"


def notification_head(path):
    return f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ".encode()


def request(head, body):
    return head + str(len(body)).encode() + b"\r\n\r\n" + body


class Connections:
    """Connections of one thread, each with at most one request that is not answered."""

    def __init__(self, port, count):
        self.poll = select.epoll()
        self.sockets, self.free, self.answers = {}, [], {}
        self.counts, self.seconds, self.due = {}, [], {}
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.poll.register(connection.fileno(), select.EPOLLIN)
            self.sockets[connection.fileno()] = connection
            self.free.append(connection.fileno())

    def send(self, data, due):
        """Sends a request; there must be a free connection."""
        number = self.free.pop()
        self.due[number] = due
        self.sockets[number].sendall(data)

    def receive(self, timeout):
        """Reads the answers that have arrived, or the first one within the time."""
        for number, _ in self.poll.poll(timeout):
            text = self.answers.pop(number, b"") + self.sockets[number].recv(65536)
            head, blank, body = text.partition(b"\r\n\r\n")
            lower = head.lower()
            at = lower.find(b"content-length:")
            if not blank or len(body) < int(lower[at + 15:].split(b"\r\n", 1)[0]):
                if not text:
                    raise SystemExit("the server closed a connection")
                self.answers[number] = text
                continue
            status = int(head[9:12])
            self.counts[status] = self.counts.get(status, 0) + 1
            self.seconds.append(time.monotonic() - self.due.pop(number))
            self.free.append(number)

    def finish(self):
        while self.due:
            self.receive(1)


def send_all(port, head, bodies):
    """Sends all requests, the next one as soon as a connection is free.

    Returns the connections, the requests a second, and the sender's processor time for each, in seconds.
    """
    requests = [request(head, body) for body in bodies]
    sender = Connections(port, CONNECTIONS)
    start, used = time.monotonic(), time.process_time()
    for data in requests:
        while not sender.free:
            sender.receive(1)
        sender.send(data, time.monotonic())
    sender.finish()
    seconds = time.monotonic() - start
    return sender, len(requests) / seconds, (time.process_time() - used) / len(requests)


def send_paced(port, bodies, rate, seconds, connections, results):
    """Sends requests at a rate, whether or not earlier ones were answered, as far as connections are free."""
    head = notification_head("/notifications/v2")
    requests = [request(head, body) for body in bodies]
    sender = Connections(port, connections)
    start, used = time.monotonic(), time.process_time()
    sent = skipped = 0
    while (now := time.monotonic()) < start + seconds:
        while sent + skipped < (now - start) * rate:
            if not sender.free:
                skipped += 1
                continue
            sender.send(requests[sent % len(requests)], start + (sent + skipped) / rate)
            sent += 1
        due = start + (sent + skipped) / rate
        sender.receive(max(0, min(due - time.monotonic(), BATCH_SECONDS)))
        if rate > 1000:
            # Several at once: waking up for each would cost the server its processor.
            time.sleep(max(0, BATCH_SECONDS - (time.monotonic() - now)))
    spent = time.monotonic() - start
    sender.finish()
    results.put((sender.counts, sorted(sender.seconds), sent / spent, skipped, (time.process_time() - used) / spent))


def processor_seconds(server):
    with open(f"/proc/{server.identifier}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start(program, mint, folder, log_level):
    os.mkdir(folder)
    server = PurchaseServer(program, mint.folder, folder, CLUB_SETTINGS)
    server.start(log_level)
    return server


class Measurement:
    """Requests that were all sent and answered with one status."""

    def __init__(self, server, head, bodies, status):
        before = processor_seconds(server)
        sender, self.rate, self.sender = send_all(server.server.port, head, bodies)
        self.server = (processor_seconds(server) - before) / len(bodies)
        self.seconds = sorted(sender.seconds)
        if set(sender.counts) != {status}:
            raise SystemExit(f"{head.split()[1].decode()} answered {sender.counts} instead of {status}")


def buy(server, mint, product, numbers):
    return Measurement(server, purchase_head(server.key), [mint.claim(number, product) for number in numbers], 200)


def signature_seconds(mint):
    """The processor time of one verification of a signature by OpenSSL, under the same load."""
    key, data, count = mint.key.public_key(), bytes(4000), 2000
    signature = mint.key.sign(data, ec.ECDSA(hashes.SHA256()))
    used = time.process_time()
    for _ in range(count):
        key.verify(signature, data, ec.ECDSA(hashes.SHA256()))
    return (time.process_time() - used) / count


def throughput(program, mint, folder, options):
    count = options.count
    print(f"\n{count} notifications of each kind, {CONNECTIONS} connections\n")
    print("| | a second | target | to claims | server's processor time, µs | of it verification "
          "| to OpenSSL's signatures | sender's, µs | p50, ms | p99, ms |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    another, door = notification_head("/notifications/v2/another"), notification_head("/notifications/v2")
    for name, signatures, product, make, target in [
            ("refund of a consumable", 2, COINS, mint.refund, 3000), ("renewal", 3, CLUB, mint.renewal, 2000)]:
        server = start(program, mint, os.path.join(folder, f"throughput-{signatures}"), options.log_level)
        bought = buy(server, mint, product, range(count))
        bodies = [make(number) for number in range(count)]
        # The first ones make the certificates known.
        Measurement(server, another, bodies[:100], 404)
        some = bodies[:max(100, count // 4)]
        floor = signature_seconds(mint) * signatures
        verified = Measurement(server, another, some, 404).server
        verified -= Measurement(server, door, [text.replace(b"signedP", b"unknown", 1) for text in some], 400).server
        found = Measurement(server, door, bodies, 200)
        half, most = (found.seconds[int(count * part)] * 1000 for part in (0.5, 0.99))
        print(f"| {name}, {signatures} signatures | {found.rate:.0f} | {target} | {found.rate / bought.rate:.2f} "
              f"| {found.server * 1e6:.0f} | {verified * 1e6:.0f} | {verified / floor:.2f} | {found.sender * 1e6:.0f} "
              f"| {half:.1f} | {most:.1f} |", flush=True)
        server.server.stop()
        server.check_record(["audit", "verify"])


def flood(program, mint, folder, options):
    server = start(program, mint, os.path.join(folder, "flood"), options.log_level)
    count = int(GENUINE_RATE * options.seconds)
    buy(server, mint, COINS, range(2 * count))
    genuine = [mint.refund(number) for number in range(2 * count)]
    bad = mint.badly_signed(genuine[:1000])
    forged = [text for pair in zip(bad, mint.cross_signed(len(bad))) for text in pair]
    print(f"\n{GENUINE_RATE} refunds a second for {options.seconds:.0f} s, log level {options.log_level}\n")
    print("| | p50, ms | p99, ms | max, ms | answers | server's cores | forgeries a second | their answers "
          "| senders' cores |")
    print("|---|---:|---:|---:|---|---:|---:|---|---:|")
    limits, rows = [], []
    for name, bodies, forgeries in [("alone", genuine[:count], []), ("beside forgeries", genuine[count:], forged)]:
        queue, forged_queue = multiprocessing.Queue(), multiprocessing.Queue()
        processes = [multiprocessing.Process(
            target=send_paced, args=(server.server.port, bodies, GENUINE_RATE, options.seconds, 32, queue))]
        if forgeries:
            processes.append(multiprocessing.Process(target=send_paced, args=(
                server.server.port, forgeries, FORGED_RATE, options.seconds, FORGERS, forged_queue)))
        before, began = processor_seconds(server), time.monotonic()
        for process in processes:
            process.start()
        counts, times, _, _, own = queue.get()
        refused, _, rate, skipped, spent = forged_queue.get() if forgeries else ({}, [], 0, 0, 0)
        for process in processes:
            process.join()
        cores = (processor_seconds(server) - before) / (time.monotonic() - began)
        row = [times[min(len(times) - 1, int(len(times) * part))] * 1000 for part in (0.5, 0.99, 1)]
        rows.append(row)
        print(f"| {name} | {row[0]:.1f} | {row[1]:.1f} | {row[2]:.1f} | {counts} | {cores:.2f} | {rate:.0f} | {refused} "
              f"| {own + spent:.2f} |", flush=True)
        if set(counts) != {200}:
            limits.append(f"genuine notifications were answered {counts}")
        if forgeries and rate < 0.9 * FORGED_RATE:
            limits.append(f"only {rate:.0f} forgeries a second were sent")
    delays = [flooded - alone for alone, flooded in zip(*rows)]
    print(f"\nThe flood delays the median by {delays[0]:.1f} ms, the 99th percentile by {delays[1]:.1f} ms, and the "
          f"slowest by {delays[2]:.1f} ms.")
    server.server.stop()
    server.check_record(["audit", "verify"])
    if options.limit_ms is not None and max(delays) > options.limit_ms:
        limits.append(f"the flood delays genuine notifications by {max(delays):.1f} ms")
    return limits


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--parts", default="throughput,flood")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--log-level", default="error")
    parser.add_argument("--limit-ms", type=float)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    limits = []
    with tempfile.TemporaryDirectory(prefix="assay-flood-") as folder:
        mint = NotificationMint(program, folder)
        if "throughput" in options.parts:
            throughput(program, mint, folder, options)
        if "flood" in options.parts:
            limits = flood(program, mint, folder, options)
    for limit in limits:
        print(limit, file=sys.stderr)
    if options.limit_ms is not None and limits:
        sys.exit(1)


if __name__ == "__main__":
    main()
