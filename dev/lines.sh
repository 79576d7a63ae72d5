#!/bin/sh
# Prints the size of the repository, and of each part that has a budget (dev/lines.py).
exec python3 "$(dirname "$0")/lines.py" "$@"
