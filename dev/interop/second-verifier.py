#!/usr/bin/env python3
"""A second verifier from PyPI over the same app receipts, verdict beside verdict.

    pip install apple-purchase-receipt-verifier
    python3 dev/interop/second-verifier.py PATH-TO-ASSAY FILE...

Prints every file on which the two disagree. Exit status 0 if each disagreement is one of those explained below.
"""
import base64
import collections
import json
import subprocess
import sys

from apple_purchase_receipt_verifier import Config, Verifier

# Disagreements that have a reason, by part of the file's name.
EXPLAINED = {
    "plus-as-space": "assay repairs what a form post did to the plus signs",
    "url-alphabet": "assay reads the URL alphabet and names it",
    "crlf-wrapped": "assay reads base64 with line breaks and names it",
    "xcode": "a certificate of a developer's machine, trusted by nobody unless named",
    "trailing-garbage": "assay refuses bytes behind the end",
}

assay, files = sys.argv[1], sys.argv[2:]
lines = subprocess.run([assay, "verify", "--json", *files], capture_output=True, text=True).stdout.splitlines()
ours = {verdict["source"]: verdict for verdict in map(json.loads, lines)}
verifier = Verifier(Config())
counts = collections.Counter()
unexplained = 0
for file in files:
    data = open(file, "rb").read()
    text = base64.b64encode(data).decode() if data[:1] == b"\x30" else data.decode("utf-8", "replace").strip()
    theirs = verifier.verify_receipt(text)
    mine = ours[file]
    kind = (mine["verdict"], "verified" if theirs.verified else "rejected")
    counts[kind] += 1
    if kind[0] == kind[1]:
        continue
    why = next((reason for part, reason in EXPLAINED.items() if part in file), None)
    unexplained += why is None
    print(f"{file.split('/')[-1]}: assay {mine['verdict']} ({mine['code']}), "
          f"the other {kind[1]} ({theirs.failure.reason if theirs.failure else None}): {why or 'NOT EXPLAINED'}")
for (mine, other), count in sorted(counts.items()):
    print(f"assay {mine}, the other {other}: {count}")
sys.exit(0 if unexplained == 0 and files else 1)
