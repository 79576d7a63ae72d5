#!/bin/sh
# Runs the checks that need no build: format, imports, availability, committed files, links in documents, and the scripts
# themselves. It ends with the size of the repository.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh

dev/format.sh --check
echo "format: as swift format writes it"
dev/check.py
dev/check.py --self-test
if has shellcheck || install_packages shellcheck; then
    shellcheck --external-sources --severity=warning dev/*.sh deploy/backup.sh deploy/docker/health.sh .ci/run
    echo "scripts: nothing for shellcheck to say"
else
    echo "scripts: not checked, because shellcheck cannot be installed here"
fi
dev/lines.sh
