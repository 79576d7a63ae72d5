#!/usr/bin/env python3
"""Fails if a file is committed that must not be: build products, the resolved versions of packages, or a file of the
corpus of real receipts (CONTRIBUTING.md, "The corpus"). Files that git would add are checked as well."""

import hashlib
import json
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
CORPUS = os.environ.get("ASSAY_CORPUS", "../shared/corpus")
# The compiler can leave its products in the folder in which it was called.
BUILT = re.compile(
    r"(^|/)(\.build[^/]*/|\.swiftpm/|Package\.resolved$)|\.(dia|swiftmodule|swiftdoc|swiftsourceinfo|swiftdeps|o)$|^[^/]*\.h$")
# Apple publishes its root certificates; they may be committed.
PUBLISHED = {"certificate-root"}


def corpus_digests():
    """The files of the corpus by digest; None if there is no corpus."""
    path = os.path.join(CORPUS, "MANIFEST.json")
    if not os.path.exists(CORPUS):
        return None
    with open(path, encoding="utf-8") as file:
        items = json.load(file)["items"]
    if not items:
        sys.exit(f"{path} lists no file")
    return {item["sha256"]: item["file"] for item in items if item["kind"] not in PUBLISHED}


def main():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True)
    files = [os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
    if not files:
        sys.exit("git lists no file")
    problems = [f"{name} is made by a build; do not commit it" for name in files if BUILT.search(name)]
    digests = corpus_digests()
    for name in files if digests else []:
        if not os.path.isfile(name):
            continue
        with open(name, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        if digest in digests:
            problems.append(f"{name} is {digests[digest]} of the corpus; do not commit it")
    if problems:
        sys.exit("\n".join(problems))
    print(f"committed: {len(files)} files, " + (
        f"none of {len(digests)} in the corpus" if digests else "not compared with the corpus, which is not here"))


main()
