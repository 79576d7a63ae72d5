#!/usr/bin/env python3
"""Loads, abuses and kills servers that it starts, and checks or measures them.

    dev/load.py SCENARIO [PROGRAM] [--OPTION VALUE…]

Everything runs on loopback; PROGRAM is .build/release/assay, if no other is named. Without a scenario it lists them, with their options
and defaults. Those that sign evidence install PyPI's cryptography into .build-load, jetstream a NATS server into .build-jetstream.
"""
import argparse
import os
import random
import subprocess
import sys

from servers import PostgreSQL, SQLite


def kill(engine, servers, work):
    def run(options):
        from loads import kill
        kill.kill(options, engine, servers, getattr(kill, work))
    return run


def scenario(module, function):
    def run(options):
        getattr(__import__(f"loads.{module}", fromlist=[function]), function)(options)
    return run


KILLS = {"rounds": 100, "clients": 48, "seed": None, "webhook": 1}
# Name, what it does, the function, and the options with their defaults.
SCENARIOS = [
    ("kill", "kill -9 of a server under purchases, on SQLite", kill(SQLite, 1, "Claims"), KILLS),
    ("servers", "kill -9 of servers and PostgreSQL under purchases", kill(PostgreSQL, 3, "Claims"), KILLS),
    ("news-servers", "the same while the notifications of a simulated store arrive", kill(PostgreSQL, 3, "News"), KILLS | {"clients": 16}),
    ("failover", "a primary and a synchronous standby of PostgreSQL fail over under purchases", scenario("failover", "failover"),
     {"rounds": 100, "clients": 8, "seed": None, "engine": "15", "fault": "", "keep": ""}),
    ("jetstream", "kill -9 of a NATS server and of the server that delivers to its stream", scenario("jetstream", "jetstream"),
     {"rounds": 12, "seed": None}),
    ("soak", "memory and write-ahead log under load", scenario("abuse", "soak"), {"minutes": 10.0, "purchases": 20_000}),
    ("abuse", "eight kinds of abuse at once beside honest purchases", scenario("abuse", "abuse"), {"minutes": 5.0}),
    ("attack", "/healthz while expensive bodies arrive", scenario("abuse", "attack"), {"seconds": 10.0, "limit": 0.0}),
    ("cost", "processor time per byte of hostile text, for each route and field", scenario("abuse", "cost"), {"limit": 0.0}),
    ("units", "what things cost, in P-256 verifications of OpenSSL", scenario("measure", "units"),
     {"count": 20_000, "originals": 8, "reference": ".build/release/reference-loop"}),
    ("unit", "that unit alone", scenario("measure", "print_unit"), {}),
    ("stops", "verifyReceipt while its database stands still", scenario("measure", "stops"), {"seconds": 5.0}),
    ("flood", "genuine notifications beside forged ones", scenario("measure", "flood"), {"seconds": 20.0, "limit": 0.0}),
    ("merges", "claims beside merges of customers, and a merge of many purchases", scenario("measure", "merges"),
     {"seconds": 20.0, "purchases": 50_000}),
    ("streams", "memory of a server with open streams of events", scenario("measure", "streams"), {"count": 1000, "limit": 40.0}),
    ("realtime", "realtime requests of the Retention Messaging API", scenario("measure", "realtime"),
     {"rate": 200.0, "seconds": 20.0, "limit": 0.0}),
    ("numbers", "imports of numbers alone, killed and run again", scenario("measure", "numbers"), {"count": 1000, "raised": 100_000}),
    ("reports", "six public reports of the trade, replayed with an App Store of its own", scenario("reports", "reports"), {}),
    ("external", "kill -9 of a server while it reports external purchases", scenario("external", "external"), {"rounds": 20, "seed": None}),
    ("console", "pages of the console on a large ledger beside a small one", scenario("shares", "console"), {"folder": ".", "rounds": 40}),
    ("metrics", "instructions of the metrics in a purchase", scenario("shares", "metrics"), {"purchases": 200}),
]


def main():
    names = [name for name, *_ in SCENARIOS]
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        print(__doc__)
        for name, words, _, defaults in SCENARIOS:
            print(f"  {name:14} {words}\n{'':16} {' '.join(f'--{key} {value}' for key, value in defaults.items())}")
        sys.exit(2)
    _, words, function, defaults = SCENARIOS[names.index(sys.argv[1])]
    parser = argparse.ArgumentParser(description=words)
    parser.add_argument("scenario")
    parser.add_argument("program", nargs="?", default=".build/release/assay")
    for key, value in defaults.items():
        parser.add_argument(f"--{key}", type=type(value) if value is not None else int, default=value)
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    if "seed" in defaults:
        options.seed = random.randrange(1 << 32) if options.seed is None else options.seed
        print(f"seed {options.seed}", flush=True)
    try:
        function(options)
    except subprocess.CalledProcessError as error:
        # 3: PostgreSQL is not installed.
        if error.returncode != 3 or "CI" in os.environ:
            raise SystemExit(f"{error}: {error.stderr}")
        print("SKIPPED: PostgreSQL is not installed (Debian: postgresql)")


if __name__ == "__main__":
    main()
