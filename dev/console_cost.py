#!/usr/bin/env python3
"""Compares the pages of the console on a large ledger with those on a small one: each at most twice the time.

    large-database FOLDER 1000000 1000000 1000      # of Benchmarks/ServerBenchmarks, once
    dev/console_cost.py PROGRAM FOLDER [ROUNDS]
"""
import http.cookiejar, pathlib, signal, socket, statistics, subprocess, sys, time, urllib.error, urllib.parse
import urllib.request

PASSWORD = "correct horse battery"
SETTINGS = """
server: {{database: "sqlite:{folder}/{name}.sqlite", port: {port}, admin: "127.0.0.1:{admin}"}}
record: {{signing_key: "{folder}/{name}-log.key"}}
apps:
  example:
    bundle_ids: [com.example.app]
    products: {{com.example.app.coins: {{kind: consumable}}}}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class World:
    """A server on one of the two ledgers, and a browser that is signed in."""

    def __init__(self, program, folder, name):
        self.program, self.admin = program, free_port()
        self.settings = folder / f"{name}.yaml"
        self.settings.write_text(SETTINGS.format(folder=folder, name=name, port=free_port(), admin=self.admin))
        self.log = open(folder / f"{name}.log", "w")
        self.process = subprocess.Popen([program, "serve", "--config", self.settings], stdout=subprocess.PIPE,
                                        stderr=self.log, text=True)
        line = self.process.stdout.readline()
        assert "ready" in line, (line, (folder / f"{name}.log").read_text()[-2000:])
        self.browser = urllib.request.build_opener(
            NoRedirect(), urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        who = f"cost{int(time.time() * 1000)}"
        link = subprocess.run([program, "operators", "add", who, "--role", "admin", "--config", self.settings],
                              check=True, capture_output=True, text=True).stdout.split()[0]
        secret = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)["secret"][0]
        assert self.get("/console/link", {"secret": secret, "password": PASSWORD, "again": PASSWORD})[0] == 303
        assert self.get("/console/sign-in", {"name": who, "password": PASSWORD})[0] == 303

    def get(self, path, form=None):
        """The status, the text and the milliseconds of an answer."""
        data = urllib.parse.urlencode(form).encode() if form else None
        start = time.perf_counter()
        try:
            answer = self.browser.open(f"http://127.0.0.1:{self.admin}{path}", data)
        except urllib.error.HTTPError as error:
            answer = error
        text = answer.read().decode()
        return answer.status, text, (time.perf_counter() - start) * 1000

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    worlds = [World(program, folder, name) for name in ("small", "large")]
    try:
        transaction = lambda number: str(2_000_000_000_000_000 + number % 1000)
        customer = lambda number: f"customer-{number * 7919 % 200}"
        claims = []
        for world in worlds:
            page = world.get(f"/console/purchase?id={transaction(1)}")[1]
            # The first checkpoint of a new key covers all entries once it is signed.
            claims.append(page.split("/console/claim?app=example&amp;id=")[1].split('"')[0])
        for world, claim in zip(worlds, claims):
            while world.get(f"/console/proof?id={claim}")[0] == 404:
                time.sleep(0.2)
        pages = [
            ("search", lambda number, _: "/console"),
            ("search for a transaction", lambda number, _: f"/console/search?q={transaction(number)}"),
            ("search for a customer", lambda number, _: f"/console/search?q={customer(number)}"),
            ("search for nothing", lambda number, _: f"/console/search?q=nobody-{number}"),
            ("a customer", lambda number, _: f"/console/customer?id={customer(number)}"),
            ("a purchase", lambda number, _: f"/console/purchase?id={transaction(number)}"),
            ("a claim", lambda _, world: f"/console/claim?id={claims[world]}"),
            ("a proof", lambda _, world: f"/console/proof?id={claims[world]}"),
            ("a pack", lambda number, _: f"/console/pack?customer={customer(number)}"),
            ("inspect", lambda number, _: "/console/inspect"),
            ("state", lambda number, _: "/console/state"),
            ("operators", lambda number, _: "/console/operators"),
        ]
        failed = False
        print(f"| page | small, ms | large, ms | ratio |\n|---|---:|---:|---:|")
        for name, path in pages:
            times = ([], [])
            for number in range(rounds):
                for world, _ in enumerate(worlds):
                    status, text, milliseconds = worlds[world].get(path(number, world))
                    assert status in (200, 303), (name, status, text[-400:])
                    times[world].append(milliseconds)
            small, large = (statistics.median(values) for values in times)
            failed |= large > 2 * small
            print(f"| {name} | {small:.1f} | {large:.1f} | {large / small:.2f} |")
        sys.exit("a page takes more than twice as long" if failed else 0)
    finally:
        for world in worlds:
            world.stop()


main()
