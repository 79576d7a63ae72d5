#!/usr/bin/env python3
"""Measures how long /healthz takes while 64 connections send the most expensive known bodies to /verifyReceipt.

usage: healthz_under_attack.py PROGRAM [--seconds N] [--limit-ms MS] [--only TEXT]

A body whose name ends in a rate is sent at that rate by all connections together, all others as fast as possible. Starts a separate server on a free port of this machine. For each kind of body, /healthz is requested every 10 ms for
N seconds (10); the attackers are separate processes, so that their Python does not delay the clock. Prints
median, 99th percentile and maximum in ms, and the number of answered bodies. With --limit-ms the status is 1 if the 99th
percentile of any kind is beyond it, or if /healthz was not answered.
"""
import argparse
import base64
import json
import multiprocessing
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

from running_server import RunningServer

CONNECTIONS = 64
EVERY = 0.01
PROBES = 16
RATE = 500_000


def bodies(program, folder):
    """The kinds of bodies, the cheap ones to send first."""
    marks = "\u0301\u0316".encode()
    yield "a usual receipt", receipt(program, folder, 2)
    yield "cross-signed certificates", receipt(program, folder, 1, "cross-signed")
    yield "cross-signed certificates, 500 kB/s", receipt(program, folder, 1, "cross-signed")
    yield "a receipt of 1,000 purchases", receipt(program, folder, 1000)
    yield "name of 200 kB of marks", b'{"e' + marks * 50_000 + b'":1}'
    yield "name of 600 kB of marks", b'{"e' + marks * 150_000 + b'":1}'
    yield "flag of 200 kB of marks", b'{"exclude-old-transactions":"e' + marks * 50_000 + b'"}'
    yield "many small values", b'{"a":[' + b"1," * 4000 + b"1]}"
    yield "1 MB of escapes", b'{"receipt-data":"' + rb"\u0041" * 170_000 + b'"}'
    noise = base64.b64encode(random.Random(1).randbytes(750_000))
    yield "1 MB of base64 that is no receipt", b'{"receipt-data":"' + noise + b'"}'
    yield "1 MB of base64 with white space", b'{"receipt-data":"' + noise.replace(b"A", rb"\n") + b'"}'
    # An ASN.1 sequence of as many of the smallest values as fit.
    nested = b"\x30\x83\x0b\x00\x00" + b"\x05\x00" * 360_448
    yield "1 MB of small ASN.1 values", b'{"receipt-data":"' + base64.b64encode(nested) + b'"}'


def receipt(program, folder, count, fault=None):
    purchases = ["--fault", fault] if fault else []
    for number in range(count):
        purchases += ["--purchase", f"product=coins,kind=consumable,transaction={number + 1}"]
    name = os.path.join(folder, f"receipt-{count}-{fault}")
    subprocess.run(
        [program, "mint", "--kind", "production", *purchases, "-o", name], cwd=folder, check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(name, "rb") as file:
        return json.dumps({"receipt-data": file.read().decode().strip()}).encode()


def read_answer(connection):
    """Reads one answer with a Content-Length; returns its status."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        part = connection.recv(65536)
        if not part:
            raise ConnectionError
        answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(re.search(rb"content-length: *(\d+)", head, re.I).group(1))
    rest = length - len(body)
    while rest > 0:
        part = connection.recv(min(rest, 65536))
        if not part:
            raise ConnectionError
        rest -= len(part)
    return answer[9:12].decode()


def attack(port, body, end, statuses, pause):
    """One connection that sends the body again and again, once in each pause; statuses of its answers."""
    data = b"POST /verifyReceipt HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    counts = {}
    connection = None
    due = time.monotonic() + random.uniform(0, pause)
    while time.monotonic() < end:
        if pause:
            time.sleep(min(max(0, due - time.monotonic()), max(0, end - time.monotonic())))
            due += pause
        try:
            if connection is None:
                connection = socket.create_connection(("127.0.0.1", port), timeout=5)
            connection.settimeout(max(0.01, end - time.monotonic()))
            connection.sendall(data)
            status = read_answer(connection)
            counts[status] = counts.get(status, 0) + 1
        except (OSError, AttributeError):
            if connection is not None:
                connection.close()
            connection = None
            time.sleep(0.01)
    statuses.put(counts)


def probe(port, seconds):
    """Seconds that each /healthz took, from when it was due. Several connections take turns, so that a slow answer does not
    delay the next question."""
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    times, failures = [], []
    begin = time.monotonic() + 0.1

    def ask(first):
        connection = None
        for number in range(first, int(seconds / EVERY), PROBES):
            due = begin + number * EVERY
            if time.monotonic() > begin + seconds * 3:
                break
            time.sleep(max(0, due - time.monotonic()))
            try:
                if connection is None:
                    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.sendall(request)
                read_answer(connection)
            except OSError:
                failures.append(number)
                connection = None
            times.append(time.monotonic() - due)

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(PROBES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(times), len(failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--limit-ms", type=float)
    parser.add_argument("--only", default="", metavar="TEXT", help="only bodies whose name contains the text")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    is_bad = False
    with tempfile.TemporaryDirectory() as folder:
        kinds = [kind for kind in bodies(program, folder) if arguments.only in kind[0]]
        print(f"{'body':36}{'bytes':>10}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'failed':>8}  answers to the attack")
        for name, body in [("nothing is sent", None)] + kinds:
            server = RunningServer(
                [program, "serve", "--port", "0", "--log-level", "critical", "--trust", "assay-authority/trust.pem"], folder)
            attackers = []
            try:
                port = server.port
                statuses = multiprocessing.Queue()
                end = time.monotonic() + arguments.seconds + 1
                if body is not None:
                    pause = len(body) * CONNECTIONS / RATE if name.endswith("kB/s") else 0
                    attackers = [
                        multiprocessing.Process(target=attack, args=(port, body, end, statuses, pause), daemon=True)
                        for _ in range(CONNECTIONS)
                    ]
                for attacker in attackers:
                    attacker.start()
                time.sleep(1)
                times, failures = probe(port, arguments.seconds)
                counts = {}
                for _ in attackers:
                    try:
                        for status, count in statuses.get(timeout=10).items():
                            counts[status] = counts.get(status, 0) + count
                    except Exception:  # One that did not end in time has nothing to say.
                        break
                p50, p99, most = (times[min(len(times) - 1, int(len(times) * part))] * 1000 for part in (0.5, 0.99, 1))
                is_bad = is_bad or failures > 0 or p99 > (arguments.limit_ms or float("inf"))
                size = len(body) if body is not None else 0
                print(f"{name:36}{size:>10,}{p50:>9.1f}{p99:>9.1f}{most:>9.1f}{failures:>8}  {counts}", flush=True)
            finally:
                for attacker in attackers:
                    attacker.kill()
                server.stop(at_once=True)
    if is_bad and arguments.limit_ms is not None:
        sys.exit(1)


if __name__ == "__main__":
    main()
