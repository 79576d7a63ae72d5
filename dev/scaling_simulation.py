#!/usr/bin/env python3
"""Simulates how purchases spread over partitions, for docs/scaling.md. It measures nothing of Assay.

usage: scaling_simulation.py [--seed N] [--purchases N]

Stated assumptions: the sizes of apps and the purchases of customers follow a Zipf law (weight 1/rank^s); a partition is chosen by
SHA-256; four writers of a server each hold a batch of 32 claims of distinct customers at the same time. Everything is printed with the
seed, so a run can be repeated.
"""
import argparse
import bisect
import hashlib
import itertools
import math
import random


def zipf(count, exponent):
    """The cumulated shares of `count` ranks."""
    return list(itertools.accumulate(1 / rank**exponent for rank in range(1, count + 1)))


def draw(cumulated, generator):
    return bisect.bisect_left(cumulated, generator.random() * cumulated[-1])


def hashed(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def rendezvous(name, partitions):
    """The partition with the greatest hash of name and partition (highest random weight)."""
    return max(range(partitions), key=lambda partition: hashed(f"{partition}/{name}"))


def imbalance(loads):
    """The busiest partition's load beside the mean."""
    return max(loads) * len(loads) / sum(loads)


def spread(purchases, seed):
    """Busiest partition beside the mean, if partitions are chosen by app, and by app and customer."""
    print("\n| apps | exponent of apps | partitions | by app | by app and customer |\n|---:|---:|---:|---:|---:|")
    for apps, exponent in ((20, 1.0), (200, 1.0), (200, 0.6)):
        for partitions in (4, 16):
            generator = random.Random(seed)
            sizes, customers = zipf(apps, exponent), zipf(100_000, 0.8)
            by_app, by_customer = [0] * partitions, [0] * partitions
            for _ in range(purchases):
                app, customer = draw(sizes, generator), draw(customers, generator)
                by_app[hashed(f"{app}") % partitions] += 1
                by_customer[hashed(f"{app}/{customer}") % partitions] += 1
            print(f"| {apps} | {exponent} | {partitions} | {imbalance(by_app):.2f} | {imbalance(by_customer):.2f} |")


def waits(seed, rounds=4000, writers=4, batch=32):
    """How often a batch shares a customer with another batch that runs at the same time."""
    print("\n| customers | exponent | batches that wait for another |\n|---:|---:|---:|")
    for count, exponent in ((1_000, 0.8), (100_000, 0.8), (1_000_000, 0.8), (1_000_000, 1.1)):
        generator = random.Random(seed)
        customers = zipf(count, exponent)
        waiting = 0
        for _ in range(rounds):
            taken = set()
            for _ in range(writers):
                claims = {draw(customers, generator) for _ in range(batch)}
                waiting += bool(claims & taken)
                taken |= claims
        print(f"| {count} | {exponent} | {waiting / (rounds * writers):.1%} |")


def growth(customers=20_000):
    """The share of customers that move if partitions are added."""
    print("\n| partitions | move, highest random weight | move, hash modulo partitions |\n|---|---:|---:|")
    for before, after in ((4, 5), (4, 8), (16, 17)):
        names = [f"customer {number}" for number in range(customers)]
        moved = sum(rendezvous(name, before) != rendezvous(name, after) for name in names)
        modulo = sum(hashed(name) % before != hashed(name) % after for name in names)
        print(f"| {before} to {after} | {moved / customers:.1%} | {modulo / customers:.1%} |")


def sizes():
    """Arithmetic: what the audit log needs beside its entries, by its definition (256 hashes of 32 bytes in a tile)."""
    print("\n| leaves | bytes of tiles | rows of tiles | hashes of a proof |\n|---:|---:|---:|---:|")
    for leaves in (10**6, 10**7, 10**8, 10**9):
        rows, level = 0, leaves
        while level >= 256:
            level //= 256
            rows += level
        print(f"| {leaves} | {rows * (256 * 32 + 32 + 8)} | {rows} | {math.ceil(math.log2(leaves))} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--purchases", type=int, default=200_000)
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.purchases} purchases drawn for each row of the first table")
    spread(options.purchases, options.seed)
    waits(options.seed)
    growth()
    sizes()


main()
