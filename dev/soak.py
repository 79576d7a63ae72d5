#!/usr/bin/env python3
"""Buys for some minutes from a purchase server, and prints its resident memory and its write-ahead log.

usage: soak.py PROGRAM EVIDENCE [--minutes N]

EVIDENCE is a folder that `ledger-benchmark --export FOLDER COUNT` wrote. 64 connections send its purchases, and
when all were sent, send them again as replays. Meanwhile a reader pages through the submissions. Memory must not grow: the median of the last quarter is at most 1.25
times that of the second and 32 MB. The write-ahead log stays below 128 MB: it is checkpointed at 12,000 pages, and a reader can hold up a
checkpoint for a moment.
"""
import argparse
import asyncio
import itertools
import os
import statistics
import tempfile
import time
import urllib.request

from purchase_load import PurchaseServer, requests, send_all

CONNECTIONS = 64
SAMPLES = 40
LARGEST_WAL = 128 << 20


def resident(identifier):
    with open(f"/proc/{identifier}/status") as status:
        for line in status:
            if line.startswith("VmRSS"):
                return int(line.split()[1]) << 10
    return 0


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("evidence")
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    seconds = options.minutes * 60
    with tempfile.TemporaryDirectory(prefix="assay-soak-") as folder:
        server = PurchaseServer(os.path.abspath(options.program), options.evidence, folder)
        backend = server.run("keys", "create", "--app", "example", "--scope", "backend", "--database", server.url)
        backend = next(word for word in backend.split() if word.startswith("assay_"))
        server.start()
        counts = {"answered": 0, "wrong": 0}
        end = time.monotonic() + seconds

        def on_answer(_, status, content):
            counts["answered"] += 1
            if status != 200:
                counts["wrong"] += 1

        def work():
            for name in itertools.cycle(["signed.ndjson", "receipts.ndjson"]):
                for request in requests(os.path.join(options.evidence, name)):
                    if time.monotonic() > end:
                        return
                    yield request

        def read_list():
            request = urllib.request.Request(
                f"{server.server.address}/v1/submissions?limit=200", headers={"Authorization": f"Bearer {backend}"})
            with urllib.request.urlopen(request, timeout=30) as answer:
                answer.read()

        samples = []

        async def watch():
            print("| s | purchases answered | resident, MB | WAL, MB | database, MB |\n|---:|---:|---:|---:|---:|")
            start = time.monotonic()
            for number in range(SAMPLES):
                await asyncio.sleep(max(0, start + (number + 1) * seconds / SAMPLES - time.monotonic() - 0.5))
                await asyncio.to_thread(read_list)
                wal = os.path.getsize(server.database + "-wal")
                samples.append((resident(server.identifier), wal))
                print(
                    f"| {time.monotonic() - start:.0f} | {counts['answered']} | {samples[-1][0] / 1e6:.1f} | {wal / 1e6:.1f} "
                    f"| {os.path.getsize(server.database) / 1e6:.0f} |", flush=True)

        lost, _ = await asyncio.gather(send_all(server, work(), CONNECTIONS, on_answer), watch())
        status = server.server.stop()
        wal = server.database + "-wal"
        left = os.path.getsize(wal) if os.path.exists(wal) else 0
    quarter = SAMPLES // 4
    early = statistics.median(memory for memory, _ in samples[quarter:2 * quarter])
    late = statistics.median(memory for memory, _ in samples[-quarter:])
    largest = max(wal for _, wal in samples)
    print(
        f"\n{counts['answered']} purchases in {options.minutes:g} minutes; memory {early / 1e6:.1f} MB early, "
        f"{late / 1e6:.1f} MB late; WAL at most {largest / 1e6:.1f} MB, {left} bytes after the end (status {status})")
    if counts["wrong"] or lost or late > 1.25 * early + (32 << 20) or largest > LARGEST_WAL or left or status:
        raise SystemExit(f"{counts['wrong']} wrong answers, {len(lost)} lost, or a bound was exceeded")


if __name__ == "__main__":
    asyncio.run(main())
