#!/bin/sh
# Makes the pictures of the documents in docs/pictures, in Chromium, and those of every page of the console (light, dark, 400 px) in
# .build-pictures/console, while it checks these pages with axe. Needs the program, Chromium, and PyPI for playwright and axe.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh
[ -x .build/release/assay ] || fail "build the program first: make build"
command -v chromium >/dev/null || command -v chromium-browser >/dev/null ||
    fail "Chromium is missing; on Debian: apt-get install chromium"
tools=$(python_tools pictures 'playwright>=1.49,<2' axe-playwright-python) || fail "playwright cannot be installed; it needs python3 with venv, and PyPI"
"$tools/bin/python" dev/pictures.py docs/pictures
axe=$(find "$tools" -name axe.min.js | head -n 1)
[ -n "$axe" ] || fail "the package axe-playwright-python has no axe.min.js"
"$tools/bin/python" dev/console_check.py "$axe" "$tools/console"
cp "$tools/console/front.png" docs/pictures/console.png
