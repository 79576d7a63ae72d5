#!/bin/sh
# Writes a verified copy of the ledger, and then deletes the copies that are older than KEEP_DAYS, 30 by default. Without a new
# copy nothing is deleted. The keys of the record are not copied; keep them in another place.
set -eu
folder=${BACKUP_FOLDER:-/var/backups/assay}
file="$folder/assay-$(date -u +%Y-%m-%dT%H%M%SZ).sqlite"
assay database backup --config "${ASSAY_CONFIG:-/etc/assay/assay.yaml}" --verify "$file"
find "$folder" -maxdepth 1 -name 'assay-*.sqlite' -type f -mtime "+${KEEP_DAYS:-30}" ! -path "$file" -delete
