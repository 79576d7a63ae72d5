"""Ratios: pages of the console on a large ledger, and instructions of the metrics in a purchase."""
import http.client
import http.cookiejar
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from loads.sender import percentile
from servers import BUNDLE, RunningServer, World, free_port


class Browser:
    """A browser that is signed in at the console of a server on one of the ledgers of a folder."""

    PASSWORD = "correct horse battery"

    def __init__(self, program, folder, name):
        settings, admin = pathlib.Path(folder, f"{name}.yaml"), f"127.0.0.1:{free_port()}"
        settings.write_text(f"server: {{ database: 'sqlite:{folder}/{name}.sqlite', port: 0, admin: '{admin}' }}\n"
                            f"record: {{ signing_key: '{folder}/{name}-log.key' }}\n"
                            f"apps: {{ example: {{ bundle_ids: [{BUNDLE}], products: {{ com.example.app.coins: {{ kind: consumable }} }} }} }}\n")
        self.server = RunningServer([program, "serve", "--config", settings], folder)
        self.address = f"http://{admin}"
        no_redirect = type("NoRedirect", (urllib.request.HTTPRedirectHandler,), {"redirect_request": lambda *_: None})
        self.opener = urllib.request.build_opener(no_redirect, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        who = f"cost{int(time.time() * 1000)}"
        link = subprocess.run([program, "operators", "add", who, "--role", "admin", "--config", settings], check=True, capture_output=True,
                              text=True).stdout.split()[0]
        secret = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)["secret"][0]
        for path, form in (("/console/link", {"secret": secret, "password": self.PASSWORD, "again": self.PASSWORD}),
                           ("/console/sign-in", {"name": who, "password": self.PASSWORD})):
            if self.get(path, form)[0] != 303:
                raise SystemExit(f"{path} does not sign in")

    def get(self, path, form=None):
        """The status, the text and the milliseconds of an answer."""
        start = time.perf_counter()
        try:
            answer = self.opener.open(self.address + path, urllib.parse.urlencode(form).encode() if form else None)
        except urllib.error.HTTPError as error:
            answer = error
        text = answer.read().decode()
        return answer.status, text, (time.perf_counter() - start) * 1000


def console(options):
    """Compares the pages on a large ledger with those on a small one, which `large-database FOLDER` of Benchmarks made: each at most twice
    the time."""
    browsers = [Browser(options.program, os.path.abspath(options.folder), name) for name in ("small", "large")]
    transaction, claims, late = "/console/purchase?id=2000000000000001", [], []
    for browser in browsers:
        claims.append(browser.get(transaction)[1].split("/console/claim?app=example&amp;id=")[1].split('"')[0])
        # The first checkpoint of a new key covers all entries once it is signed.
        while browser.get(f"/console/proof?id={claims[-1]}")[0] == 404:
            time.sleep(0.2)
    print("| page | small, ms | large, ms | ratio |\n|---|---:|---:|---:|")
    for page in ("", "/search?q=T", "/search?q=C", "/search?q=nobody-N", "/customer?id=C", "/purchase?id=T", "/claim?id=E", "/proof?id=E",
                 "/pack?customer=C", "/inspect", "/state", "/operators"):
        times = ([], [])
        for number in range(options.rounds):
            words = {"T": f"{2_000_000_000_000_000 + number % 1000}", "C": f"customer-{number * 7919 % 200}", "N": f"{number}"}
            for browser, claim, found in zip(browsers, claims, times):
                status, text, milliseconds = browser.get("/console" + re.sub("[TCNE]", lambda kind: (words | {"E": claim})[kind.group()], page))
                if status not in (200, 303):
                    raise SystemExit(f"{page}: {status}: {text[-400:]}")
                found.append(milliseconds)
        small, large = (percentile(found, 0.5) for found in times)
        late += [page] * (large > 2 * small)
        print(f"| {page or '/'} | {small:.1f} | {large:.1f} | {large / small:.2f} |", flush=True)
    for browser in browsers:
        browser.server.stop()
    if late:
        raise SystemExit(f"more than twice as long: {late}")


# valgrind has no sigsuspend with which Foundation's thread of signals could wait for ever; this one sleeps.
SHIM = """#include <signal.h>
#include <time.h>
int sigsuspend(const sigset_t *mask) { (void)mask; for (;;) { struct timespec t = {1, 0}; nanosleep(&t, 0); } return -1; }
"""
# The entries of the metrics in mangled names: ServerMetrics.note…, and the lookups of a request's and a claim's instruments.
ENTRIES = re.compile(r"14PurchaseServer0B7MetricsC\d+note\w+F|14PurchaseServer11InstrumentsC\w+_AA0B7MetricsC13RequestLabels"
                     r"|7MetricsC11ClaimLabels|14PurchaseServer15HistogramSeriesC11CoreMetrics12TimerHandler")


def metrics(options):
    """The part of a durable purchase's instructions that the metrics are, by callgrind, with everything that their functions call: at most
    1 %. The program is a release build with its symbols. Needs valgrind, and strip of binutils: valgrind cannot read the debug information."""
    from loads.evidence import Mint

    def run(*command):
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout

    with tempfile.TemporaryDirectory(prefix="assay-metrics-") as folder:
        signer, program, warm = Mint(options.program, folder), f"{folder}/assay", 50
        run("strip", "--strip-debug", "-o", program, options.program)
        pathlib.Path(folder, "shim.c").write_text(SHIM)
        run("cc", "-shared", "-fPIC", "-o", f"{folder}/shim.so", "shim.c")
        world = World(program, folder, signer.trust, server=", admin: '127.0.0.1:0'")
        server = world.start(before=["env", f"LD_PRELOAD={folder}/shim.so", "valgrind", "--tool=callgrind",
                                     f"--callgrind-out-file={folder}/callgrind.out"])
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
        for number in range(warm + options.purchases):
            if number == warm:
                run("callgrind_control", "-z", str(server.process.pid))
            connection.request("POST", "/v1/purchases", signer.claim(number), {"Authorization": f"Bearer {world.key}", "Content-Type": "application/json"})
            answer = connection.getresponse()
            if answer.status != 200:
                raise SystemExit(f"a purchase was answered {answer.status}: {answer.read()}")
            answer.read()
        run("callgrind_control", "-d", str(server.process.pid))
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(timeout=300)
        profile = pathlib.Path(folder, "callgrind.out.1")
        everything = int(re.search(r"^(?:totals|summary): (\d+)", profile.read_text(errors="replace"), re.M).group(1))
        each = {}
        for line in run("callgrind_annotate", "--inclusive=yes", "--threshold=100", str(profile)).splitlines():
            found = re.match(r"\s*([\d,]+) \([^)]*\)\s+\S*?:(\$s\S+)", line)
            if found and ENTRIES.search(found.group(2)):
                # A function with callers of several files is listed once for each.
                each[found.group(2)] = max(each.get(found.group(2), 0), int(found.group(1).replace(",", "")))
    print(f"{options.purchases} purchases: {everything / options.purchases:,.0f} instructions each, of which the metrics are:")
    for function, instructions in sorted(each.items(), key=lambda item: -item[1]):
        print(f"  {instructions / options.purchases:10,.0f}  {function[:110]}")
    share = sum(each.values()) / everything
    print(f"together at most {share:.2%} (a function that another one of them calls is counted twice)")
    if not 0 < share <= 0.01:
        raise SystemExit("none of them is in the profile, or they are more than 1 %")
