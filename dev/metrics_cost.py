"""Tells which part of a durable purchase's instructions the metrics are, by callgrind.

usage: metrics_cost.py PROGRAM [--purchases N]

PROGRAM is a release build with its symbols (`swift build -c release --package-path Server --product assay`). It is run under
callgrind; N purchases (200) of consumables by signed transactions are made one after the other, after 50 to warm up. The
instructions of the metrics are those of their functions with everything that these call: noting a request, a verification, a
claim. Functions that the compiler put into others count through the lookups that they call. The status is 1 over 1 %.

It needs valgrind, and binutils' strip: valgrind cannot read the program's debug information.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
parser.add_argument("program")
parser.add_argument("--purchases", type=int, default=200)
arguments = parser.parse_args()
warm = 50

# valgrind has no sigsuspend with which Foundation's thread of signals could wait for ever; this one sleeps.
SHIM = """#include <signal.h>
#include <time.h>
int sigsuspend(const sigset_t *mask) { (void)mask; for (;;) { struct timespec t = {1, 0}; nanosleep(&t, 0); } return -1; }
"""
# The entries of the metrics in mangled names: ServerMetrics.note…, and the lookups of a request's and a claim's instruments.
ENTRIES = re.compile(r"14PurchaseServer0B7MetricsC\d+note\w+F|14PurchaseServer11InstrumentsC\w+_AA0B7MetricsC13RequestLabels"
                     r"|7MetricsC11ClaimLabels|14PurchaseServer15HistogramSeriesC11CoreMetrics12TimerHandler")


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


with tempfile.TemporaryDirectory(prefix="assay-metrics-cost-") as name:
    folder = pathlib.Path(name)
    program = str(folder / "assay")
    run("strip", "--strip-debug", "-o", program, arguments.program)
    (folder / "shim.c").write_text(SHIM)
    run("cc", "-shared", "-fPIC", "-o", str(folder / "shim.so"), str(folder / "shim.c"))
    (folder / "assay.yaml").write_text(
        "server: { port: 0, admin: 127.0.0.1:0 }\n"
        "apps:\n  game: { bundle_ids: com.example.app, products: { coins: { kind: consumable } } }\n")
    for number in range(arguments.purchases + warm):
        run(program, "mint", "--kind", "signed-transaction", "--environment", "Production", "--bundle-id", "com.example.app",
            "--purchase", f"product=coins,kind=consumable,transaction={7000000 + number}", "-o", f"{number}.jws", cwd=folder)
    key = run(program, "keys", "create", "--app", "game", "--scope", "client", cwd=folder).split()[-1]
    output = folder / "callgrind.out"
    server = subprocess.Popen(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", program, "serve", "--trust",
         "assay-authority/trust.pem"],
        cwd=folder, stdout=subprocess.PIPE, stderr=open(folder / "log", "w"), text=True,
        env=dict(os.environ, LD_PRELOAD=str(folder / "shim.so")))
    try:
        found = re.search(r":(\d+)\s*$", server.stdout.readline())
        if not found:
            sys.exit("the server did not start: " + (folder / "log").read_text()[-2000:])
        connection = http.client.HTTPConnection("127.0.0.1", int(found.group(1)), timeout=600)

        def buy(number):
            body = json.dumps({
                "signed_transaction": (folder / f"{number}.jws").read_text().strip(), "product_id": "coins",
                "transaction_id": str(7000000 + number), "customer_id": f"c{number}"})
            connection.request("POST", "/v1/purchases", body,
                               {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                sys.exit(f"a purchase was answered {answer.status}: {text}")

        for number in range(warm):
            buy(number)
        run("callgrind_control", "-z", str(server.pid))
        for number in range(warm, warm + arguments.purchases):
            buy(number)
        run("callgrind_control", "-d", str(server.pid))
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=300)
    profile = folder / "callgrind.out.1"
    everything = int(re.search(r"^(?:totals|summary): (\d+)", profile.read_text(errors="replace"), re.M).group(1))
    listed = run("callgrind_annotate", "--inclusive=yes", "--threshold=100", str(profile))

each = {}
for line in listed.splitlines():
    found = re.match(r"\s*([\d,]+) \([^)]*\)\s+\S*?:(\$s\S+)", line)
    if found and ENTRIES.search(found.group(2)):
        # A function with callers of several files is listed once for each.
        each[found.group(2)] = max(each.get(found.group(2), 0), int(found.group(1).replace(",", "")))
if not each:
    sys.exit("the profile has no function of the metrics; was PROGRAM stripped?")
count = arguments.purchases
print(f"{count} purchases: {everything / count:,.0f} instructions each, of which the metrics are:")
for function, instructions in sorted(each.items(), key=lambda item: -item[1]):
    print(f"  {instructions / count:10,.0f}  {function[:110]}")
share = sum(each.values()) / everything * 100
print(f"together at most {sum(each.values()) / count:,.0f}, {share:.2f} % (a function that another one of them calls is counted twice)")
sys.exit(share > 1)
