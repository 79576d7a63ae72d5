#!/bin/sh
# Makes the pictures of the documents in docs/pictures, in Chromium. Needs the program, Chromium, and PyPI for playwright.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh
[ -x .build/release/assay ] || fail "build the program first: make build"
command -v chromium >/dev/null || command -v chromium-browser >/dev/null ||
    fail "Chromium is missing; on Debian: apt-get install chromium"
tools=$(python_tools pictures 'playwright>=1.49,<2') || fail "playwright cannot be installed; it needs python3 with venv, and PyPI"
"$tools/bin/python" dev/pictures.py docs/pictures
