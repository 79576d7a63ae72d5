#!/usr/bin/env python3
"""Measures the cost of hostile text for the server: processor time per byte, for each route and field, from 1 kB to 1 MB.

usage: cost_per_byte.py PROGRAM [--limit-ms MS]

The text alternates two combining marks whose canonical order differs (U+0301, U+0316). Code that hashes or compares it as
a Swift String takes time that grows with the square of its length. A linear field has the same cost per byte in each column.
Starts a separate server on a free port of this machine, probes it over raw sockets, and stops it. A probe ends after 60
seconds; then the server is restarted, and larger sizes of that field are skipped.

With --limit-ms the status is 1 if any probe took more processor time than that.
"""
import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

from running_server import RunningServer

SIZES = [1_000, 10_000, 60_000, 200_000, 1_000_000]
PROBE_SECONDS = 60
MARKS = "\u0301\u0316".encode()


def marks(size):
    """Hostile text of this many bytes, in UTF-8."""
    return MARKS * (size // len(MARKS))


def percent(size):
    """The same in percent-encoding, at most this many bytes."""
    return b"%CC%81%CC%96" * (size // 12)


def request(method, target, headers, body=b""):
    lines = [b"%s %s HTTP/1.1" % (method, target)]
    if not any(name.lower() == b"host" for name, _ in headers):
        lines.append(b"Host: localhost")
    lines += [name + b": " + value for name, value in headers]
    if body:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\nConnection: close\r\n\r\n" + body


def doors(key):
    """Each route and field, with the request of a size."""
    authorization = (b"Authorization", b"Bearer " + key)
    bearer = [authorization, (b"Idempotency-Key", b"1")]
    order = b'"customer_id":"a","product_id":"coins"'

    def body(target, make, headers=()):
        return lambda size: request(b"POST", target, list(headers), make(size))

    def header(target, name, prefix=b"", more=(), method=b"GET"):
        return lambda size: request(method, target, list(more) + [(name, prefix + b"e" + marks(size))], b"{}" if method == b"POST" else b"")

    def target(make, more=()):
        return lambda size: request(b"GET", make(size), list(more))

    yield "POST /verifyReceipt", "member name", body(b"/verifyReceipt", lambda n: b'{"e' + marks(n) + b'":1}')
    yield "POST /verifyReceipt", "name in a nested object", body(
        b"/verifyReceipt", lambda n: b'{"a":{"e' + marks(n) + b'":1}}')
    yield "POST /verifyReceipt", "escaped member name", body(
        b"/verifyReceipt", lambda n: b'{"e' + rb"\u0301\u0316" * (n // 12) + b'":1}')
    for name in (b"receipt-data", b"password", b"exclude-old-transactions"):
        yield "POST /verifyReceipt", name.decode(), body(
            b"/verifyReceipt", lambda n, name=name: b'{"' + name + b'":"e' + marks(n) + b'"}')
    for path in (b"/v1/orders", b"/v1/purchases", b"/v1/customers/a/consume"):
        yield "POST " + path.decode(), "member name", body(path, lambda n: b'{"e' + marks(n) + b'":1}', bearer)
    for name in (b"customer_id", b"product_id", b"quantity", b"metadata"):
        yield "POST /v1/orders", name.decode(), body(
            b"/v1/orders", lambda n, name=name: b'{"' + name + b'":"e' + marks(n) + b'"}', bearer)
    yield "POST /v1/orders", "metadata name", body(
        b"/v1/orders", lambda n: b"{" + order + b',"metadata":{"e' + marks(n) + b'":"x"}}', bearer)
    yield "POST /v1/orders", "metadata value", body(
        b"/v1/orders", lambda n: b"{" + order + b',"metadata":{"x":"e' + marks(n) + b'"}}', bearer)
    for name in (b"receipt_data", b"signed_transaction", b"product_id", b"transaction_id", b"order_id", b"customer_id"):
        yield "POST /v1/purchases", name.decode(), body(
            b"/v1/purchases", lambda n, name=name: b'{"' + name + b'":"e' + marks(n) + b'"}', bearer)
    for name in (b"product_id", b"consumption_id", b"environment"):
        yield "POST /v1/customers/a/consume", name.decode(), body(
            b"/v1/customers/a/consume", lambda n, name=name: b'{"' + name + b'":"e' + marks(n) + b'"}', bearer)
    for name in (b"Host", b"Connection", b"Expect", b"Content-Type", b"Cookie", b"X-Forwarded-For", b"User-Agent"):
        yield "POST /verifyReceipt", "header " + name.decode(), header(b"/verifyReceipt", name, method=b"POST")
    yield "GET /v1/orders", "header Authorization", header(b"/v1/orders", b"Authorization")
    yield "GET /v1/orders", "header Authorization, the key", header(b"/v1/orders", b"Authorization", b"Bearer ")
    yield "GET /v1/orders", "header Authorization, a key's form", header(
        b"/v1/orders", b"Authorization", b"Bearer assay_0123456789abcdef_")
    yield "POST /v1/orders", "header Idempotency-Key", header(
        b"/v1/orders", b"Idempotency-Key", more=[authorization], method=b"POST")
    yield "GET …/entitlements", "header If-None-Match", header(
        b"/v1/customers/a/entitlements", b"If-None-Match", more=bearer)
    yield "GET any path", "part of the path", target(lambda n: b"/e" + marks(n))
    yield "GET any path", "part of the path, encoded", target(lambda n: b"/" + percent(n))
    yield "GET /v1/orders/{id}", "order_id", target(lambda n: b"/v1/orders/e" + percent(n), bearer)
    yield "GET /v1/orders", "query name", target(lambda n: b"/v1/orders?e" + marks(n) + b"=1", bearer)
    for name in (b"status", b"customer_id", b"limit", b"cursor"):
        yield "GET /v1/orders", "query " + name.decode(), target(
            lambda n, name=name: b"/v1/orders?" + name + b"=e" + percent(n), bearer)
    for name in (b"verdict", b"code", b"from"):
        yield "GET /v1/submissions", "query " + name.decode(), target(
            lambda n, name=name: b"/v1/submissions?" + name + b"=e" + percent(n), bearer)


class Server(RunningServer):
    """The program, running in a folder."""

    def __init__(self, program, folder):
        super().__init__([program, "serve", "--port", "0", "--log-level", "error"], folder)

    def processor_seconds(self):
        """The processor time of all its threads so far."""
        total = 0
        folder = f"/proc/{self.process.pid}/task"
        try:
            for task in os.listdir(folder):
                with open(f"{folder}/{task}/schedstat", encoding="ascii") as file:
                    total += int(file.read().split()[0])
        except (FileNotFoundError, ProcessLookupError):
            pass
        return total / 1e9

    def ask(self, data):
        """Sends it, and waits for the whole answer: its status, or None where none came in time, and the seconds."""
        before, began = self.processor_seconds(), time.monotonic()
        answer = b""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=PROBE_SECONDS) as connection:
                try:
                    connection.sendall(data)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # It answered before it had read all of it.
                connection.settimeout(max(0.001, PROBE_SECONDS - (time.monotonic() - began)))
                while time.monotonic() - began < PROBE_SECONDS:
                    part = connection.recv(65536)
                    if not part:
                        break
                    answer += part
                    if re.search(rb"\r\n\r\n(.*)", answer, re.S) and complete(answer):
                        break
        except (TimeoutError, socket.timeout):
            return None, PROBE_SECONDS
        except (ConnectionResetError, BrokenPipeError):
            pass
        seconds = self.processor_seconds() - before
        return (answer[9:12].decode("ascii", "replace") or "closed"), seconds

def complete(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):
        return complete(body) if body else False
    length = re.search(rb"content-length: *(\d+)", head, re.I)
    return length is not None and len(body) >= int(length.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--limit-ms", type=float)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "assay.yaml"), "w", encoding="utf-8") as settings:
            rate = "{ per_second: 1000000, burst: 1000000 }"
            settings.write(
                f"limits:\n  per_key: {rate}\n  per_address: {rate}\n"
                "apps:\n  game:\n    bundle_ids: [com.example.game]\n    products:\n      coins: {{ kind: consumable }}\n"
                .replace("{{", "{").replace("}}", "}"))
        key = subprocess.run(
            [program, "keys", "create", "--app", "game", "--scope", "admin"], cwd=folder, check=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
        server = Server(program, folder)
        try:
            print("ns of processor time per byte (status); the last column is the total of the largest size, in ms")
            print(f"{'route':30} {'field':34}" + "".join(f"{size:>16,}" for size in SIZES) + f"{'total ms':>12}")
            for door, field, make in doors(key):
                cells, total = [], ""
                for size in SIZES:
                    data = make(size)
                    server.ask(data if size == SIZES[0] else make(SIZES[0]))  # Whatever is made once is not counted.
                    status, seconds = server.ask(data)
                    if status is None:
                        cells.append(f"{'> 60 s':>16}")
                        total = "> 60000"
                        worst = float("inf")
                        server.stop(at_once=True)
                        server = Server(program, folder)
                        break
                    cells.append(f"{f'{seconds * 1e9 / len(data):.0f} ({status})':>16}")
                    total = f"{seconds * 1000:.1f}"
                    worst = max(worst, seconds * 1000)
                cells += [" " * 16] * (len(SIZES) - len(cells))
                print(f"{door:30} {field:34}" + "".join(cells) + f"{total:>12}", flush=True)
        finally:
            server.stop(at_once=True)
    print(f"the most expensive probe took {worst:.1f} ms of processor time")
    if arguments.limit_ms is not None and worst > arguments.limit_ms:
        sys.exit(1)


if __name__ == "__main__":
    main()
