#!/usr/bin/env python3
"""Abuses a purchase server in eight ways at the same time while honest customers buy, and checks that it stays well.

usage: mixed_abuse.py PROGRAM [--minutes N] [--slack-mb N] [--p99-ms N] [--refused-percent N]

Starts `assay serve` on a free port of this machine, with the default shares of a small client key. Clients come from addresses of
their own: the script is a trusted proxy that writes X-Forwarded-For. The abuse comes from one /48 of IPv6 and one /24 of IPv4:
pipelined requests for a document that are never read, slow bodies, more idle connections than the server accepts, malformed heads,
junk restores of 90 pieces, junk claims of 700 kB, unknown keys, and one genuine receipt claimed for ever new customers. Each has a
fixed rate, so the load does not depend on the machine.

Every five seconds it prints resident memory, open files, the database and the latency of /healthz over new connections. The exit
status is 1 if
- memory after the first five minutes (or the first half of a shorter run) grows by more than the slack (64 MB),
- more than 1 % of the honest purchases are refused for load or get no answer,
- the 99th percentile of /healthz exceeds the limit (500 ms), or /healthz is not answered once in a hundred times,
- a kind of abuse did nothing, or the audit finds something at the end.
"""
import argparse
import asyncio
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

CONNECTIONS = 256
IDLE = 400
SETTINGS = f"""
server:
  trust: [assay-authority/trust.pem]
  trusted_proxies: [127.0.0.1]
limits:
  connections: {CONNECTIONS}
  per_key: {{ per_second: 100, burst: 200 }}
apps:
  example:
    bundle_ids: [com.example.app]
    environments: [Production]
    products:
      coins: {{ kind: consumable }}
"""
PURCHASES_OF_RECEIPT = 20
HONEST_PAUSE = 0.5
PROBE_PAUSE = 0.1
SAMPLE_PAUSE = 5
BASELINE_SECONDS = 300


def abuser():
    """An address of the two networks that the abuse comes from."""
    if random.random() < 0.5:
        return f"2001:db8:bad:{random.randrange(1 << 16):x}::1"
    return f"198.51.100.{random.randrange(256)}"


def post(path, body, key=None, address=None):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    if key:
        head += f"Authorization: Bearer {key}\r\n"
    if address:
        head += f"X-Forwarded-For: {address}\r\n"
    return head.encode() + b"\r\n" + body


def claim(evidence, transaction, customer):
    return json.dumps(
        {"receipt_data": evidence, "product_id": "coins", "transaction_id": transaction,
         "customer_id": customer}).encode()


# MARK: abuse, in a process of its own

async def connect(port):
    return await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 10)


async def status(reader):
    """The status of an answer, whose content is read and dropped."""
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    if length:
        await asyncio.wait_for(reader.readexactly(int(length.group(1))), 30)
    return int(head[9:12])


class Abuse:
    def __init__(self, port, key, evidence, end):
        self.port, self.key, self.evidence, self.end = port, key, evidence, end
        self.counts = {}

    def count(self, kind, outcome):
        name = f"{kind}: {outcome}"
        self.counts[name] = self.counts.get(name, 0) + 1

    async def once(self, kind, data):
        """Sends one request over a connection of its own, and counts its status."""
        writer = None
        try:
            reader, writer = await connect(self.port)
            writer.write(data)
            self.count(kind, await status(reader))
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
            self.count(kind, "closed")
        finally:
            if writer:
                writer.close()

    async def repeat(self, pause, work):
        """Does a thing at a fixed rate, without waiting for it to end, at most 32 at once."""
        running = set()
        due = time.monotonic()
        while time.monotonic() < self.end:
            due += pause
            await asyncio.sleep(max(0, due - time.monotonic()))
            if len(running) < 32:
                task = asyncio.ensure_future(work())
                running.add(task)
                task.add_done_callback(running.discard)
        for task in running:
            task.cancel()

    async def pipelined(self):
        data = b"GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n" * 8000
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.setblocking(False)
        try:
            loop = asyncio.get_running_loop()
            await asyncio.wait_for(loop.sock_connect(connection, ("127.0.0.1", self.port)), 10)
            try:
                await asyncio.wait_for(loop.sock_sendall(connection, data), 10)
            except (OSError, asyncio.TimeoutError):
                pass
            self.count("pipelined", "unread")
            await asyncio.sleep(20)
        except (OSError, asyncio.TimeoutError):
            self.count("pipelined", "closed")
        finally:
            connection.close()

    async def slow_body(self):
        writer = None
        try:
            _, writer = await connect(self.port)
            writer.write(b"POST /verifyReceipt HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n\r\n{")
            self.count("slow bodies", "begun")
            for _ in range(60):
                await asyncio.sleep(1)
                writer.write(b" ")
                await writer.drain()
        except (OSError, asyncio.TimeoutError):
            self.count("slow bodies", "cut")
        finally:
            if writer:
                writer.close()

    async def idle(self):
        while time.monotonic() < self.end:
            writer = None
            try:
                reader, writer = await connect(self.port)
                self.count("idle", "opened")
                if random.random() < 0.5:
                    writer.write(b"GET /healthz HTTP/1.1\r\nHost:")
                await asyncio.wait_for(reader.read(1), max(1, self.end - time.monotonic()))
            except (OSError, asyncio.TimeoutError):
                pass
            finally:
                if writer:
                    writer.close()
            await asyncio.sleep(1)

    async def malformed(self):
        head = random.choice([
            b"GET / HTTP/1.1\r\n\r\n", b"GET /\xcc\x81\xcc\x96 HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00",
            b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
            b"POST /v1/purchases HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"x: y\r\n" * 500 + b"\r\n",
            b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", random.randbytes(500) + b"\r\n\r\n",
        ])
        await self.once("malformed heads", head)

    async def junk_restore(self):
        pieces = [base64.b64encode(random.randbytes(12)).decode() for _ in range(90)]
        body = json.dumps({"customer_id": "junk", "signed_transactions": pieces}).encode()
        await self.once("junk restores", post("/v1/restores", body, self.key, abuser()))

    async def junk_claim(self):
        evidence = base64.b64encode(random.randbytes(520_000)).decode()
        await self.once("junk claims", post("/v1/purchases", claim(evidence, "1", "junk"), self.key, abuser()))

    async def unknown_key(self):
        key = f"assay_{random.randbytes(8).hex()}_{random.randbytes(32).hex()}"
        await self.once("unknown keys", post("/v1/purchases", b"{}", key, abuser()))

    async def repeated(self):
        body = claim(self.evidence, "1", f"thief {random.randrange(1 << 40)}")
        await self.once("genuine evidence again", post("/v1/purchases", body, self.key, abuser()))

    async def run(self):
        works = [(6, self.pipelined), (2, self.slow_body), (0.05, self.malformed), (0.1, self.junk_restore),
                 (0.5, self.junk_claim), (0.05, self.unknown_key), (0.1, self.repeated)]
        idle = [asyncio.ensure_future(self.idle()) for _ in range(IDLE)]
        await asyncio.gather(*(self.repeat(pause, work) for pause, work in works))
        for task in idle:
            task.cancel()
        await asyncio.gather(*idle, return_exceptions=True)
        return self.counts


def abuse(port, key, evidence, end, results):
    results.put(asyncio.run(Abuse(port, key, evidence, end).run()))


# MARK: honest customers, and observation

def exchange(port, data, seconds):
    """The answer to one request over a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        connection.sendall(data)
        answer = b""
        while True:
            head, mark, body = answer.partition(b"\r\n\r\n")
            if mark:
                length = re.search(rb"(?i)content-length: *(\d+)", head)
                if not length or len(body) >= int(length.group(1)):
                    return int(answer[9:12]), body
            part = connection.recv(65536)
            if not part:
                raise ConnectionError("closed without an answer")
            answer += part


class Buyers:
    """Customers who each buy once, from addresses all over the world."""

    def __init__(self, program, folder, port, key, end):
        self.program, self.folder, self.port, self.key, self.end = program, folder, port, key, end
        self.counts = {}
        self.example = None

    def mint(self, first):
        """A receipt of some purchases, in base64."""
        purchases = []
        for number in range(first, first + PURCHASES_OF_RECEIPT):
            purchases += ["--purchase", f"product=coins,kind=consumable,transaction={number}"]
        return subprocess.run(
            [self.program, "mint", "--kind", "production", *purchases], cwd=self.folder, check=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()

    def run(self):
        number, evidence = 1000, ""
        due = time.monotonic()
        while time.monotonic() < self.end:
            if number % PURCHASES_OF_RECEIPT == 0:
                evidence = self.mint(number)
            due = max(due + HONEST_PAUSE, time.monotonic())
            time.sleep(max(0, due - time.monotonic()))
            address = f"203.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(256)}"
            body = claim(evidence, str(number), f"customer {number}")
            try:
                outcome, content = exchange(self.port, post("/v1/purchases", body, self.key, address), 30)
                if outcome not in (200, 429, 503) and self.example is None:
                    self.example = content.decode(errors="replace")
            except OSError:
                outcome = "closed"
            self.counts[outcome] = self.counts.get(outcome, 0) + 1
            number += 1


class Probe:
    """A monitor that asks /healthz over new connections."""

    def __init__(self, port, end):
        self.port, self.end = port, end
        self.times, self.failures = [], 0

    def run(self):
        due = time.monotonic()
        while time.monotonic() < self.end:
            due = max(due + PROBE_PAUSE, time.monotonic())
            time.sleep(max(0, due - time.monotonic()))
            begin = time.monotonic()
            try:
                outcome, _ = exchange(self.port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 10)
                self.failures += outcome != 200
            except OSError:
                self.failures += 1
            self.times.append(time.monotonic() - begin)


def percentile(times, part):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000 if ordered else 0.0


def resident(identifier):
    with open(f"/proc/{identifier}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


def watch(server, folder, probe, seconds, begin):
    """Prints a sample every five seconds; returns the seconds and the memory of each."""
    samples, seen = [], 0
    print("| s | resident, MB | open files | database, MB | /healthz p50, ms | p99, ms |\n|---:|---:|---:|---:|---:|---:|")
    while time.monotonic() < begin + seconds:
        time.sleep(min(SAMPLE_PAUSE, max(0.01, begin + seconds - time.monotonic())))
        times, seen = probe.times[seen:], len(probe.times)
        elapsed = time.monotonic() - begin
        memory = resident(server.process.pid)
        files = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        size = sum(
            os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder) if name.startswith("assay.sqlite"))
        samples.append((elapsed, memory))
        print(
            f"| {elapsed:.0f} | {memory:.0f} | {files} | {size / 1e6:.1f} | {percentile(times, 0.5):.1f} "
            f"| {percentile(times, 0.99):.1f} |", flush=True)
    return samples


def judge(options, samples, buyers, probe, counts):
    """The reasons why the run failed."""
    reasons = []
    baseline_end = min(BASELINE_SECONDS, options.minutes * 30)
    early = max(memory for elapsed, memory in samples if elapsed <= baseline_end + SAMPLE_PAUSE)
    late = max(memory for elapsed, memory in samples if elapsed >= baseline_end)
    print(f"memory: at most {early:.0f} MB in the first {baseline_end:.0f} s, {late:.0f} MB afterwards")
    if late > early + options.slack_mb:
        reasons.append(f"memory grew by {late - early:.0f} MB")
    bought, total = buyers.counts.get(200, 0), sum(buyers.counts.values())
    refused = sum(buyers.counts.get(outcome, 0) for outcome in (429, 503, "closed"))
    print(f"honest purchases: {buyers.counts}")
    if refused > total * options.refused_percent / 100:
        reasons.append(f"{refused} of {total} honest purchases were refused for load")
    if bought + refused != total or total == 0:
        reasons.append(f"honest purchases got other answers: {buyers.example}")
    p99 = percentile(probe.times, 0.99)
    print(f"/healthz: {len(probe.times)} questions, p50 {percentile(probe.times, 0.5):.1f} ms, p99 {p99:.1f} ms, "
          f"{probe.failures} not answered")
    if p99 > options.p99_ms or probe.failures * 100 > len(probe.times):
        reasons.append("/healthz was late")
    for kind in ("pipelined", "slow bodies", "idle", "malformed heads", "junk restores", "junk claims", "unknown keys",
                 "genuine evidence again"):
        outcomes = {name.split(": ")[1]: count for name, count in sorted(counts.items()) if name.startswith(kind + ": ")}
        print(f"{kind}: {outcomes}")
        if not outcomes:
            reasons.append(f"{kind} did nothing")
    return reasons


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--slack-mb", type=float, default=64)
    parser.add_argument("--p99-ms", type=float, default=500)
    parser.add_argument("--refused-percent", type=float, default=1)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    seconds = options.minutes * 60
    with tempfile.TemporaryDirectory(prefix="assay-abuse-") as folder:
        with open(os.path.join(folder, "assay.yaml"), "w", encoding="utf-8") as file:
            file.write(SETTINGS)
        buyers = Buyers(program, folder, 0, "", 0)
        evidence = buyers.mint(1)
        created = subprocess.run(
            [program, "keys", "create", "--app", "example", "--scope", "client"], cwd=folder, check=True,
            capture_output=True, text=True).stdout
        key = re.search(r"assay_\S+", created).group(0)
        server = RunningServer([program, "serve", "--port", "0", "--log-level", "critical"], folder)
        attacker = None
        try:
            begin = time.monotonic()
            end = begin + seconds
            buyers = Buyers(program, folder, server.port, key, end)
            probe = Probe(server.port, end)
            results = multiprocessing.Queue()
            attacker = multiprocessing.Process(target=abuse, args=(server.port, key, evidence, end, results), daemon=True)
            attacker.start()
            threads = [threading.Thread(target=work.run, daemon=True) for work in (buyers, probe)]
            for thread in threads:
                thread.start()
            samples = watch(server, folder, probe, seconds, begin)
            for thread in threads:
                thread.join(timeout=60)
            counts = results.get(timeout=60)
            reasons = judge(options, samples, buyers, probe, counts)
        finally:
            if attacker is not None:
                attacker.kill()
            ended = server.stop()
        if ended != 0:
            reasons.append(f"the server ended with status {ended}")
        audit = subprocess.run([program, "audit", "verify"], cwd=folder, capture_output=True, text=True)
        print(f"audit verify: exit {audit.returncode}: {audit.stdout.strip().splitlines()[-1:]}")
        if audit.returncode != 0:
            reasons.append(f"the audit found something: {audit.stdout[-2000:]} {audit.stderr[-2000:]}")
    if reasons:
        sys.exit("; ".join(reasons))
    print("all checks passed")


if __name__ == "__main__":
    main()
