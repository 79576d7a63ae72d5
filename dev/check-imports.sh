#!/bin/sh
# Fails when a room imports what the table in CONTRIBUTING.md does not allow it, or is not in the table.
set -eu
cd "$(dirname "$0")/.."
status=0
checked=0
rooms=" "
allow() {
    room=$1; shift
    rooms="$rooms$room "
    [ -d "Sources/$room" ] || { echo "Sources/$room is not there"; status=1; return; }
    allowed=" $* "
    for file in $(find "Sources/$room" -name '*.swift' | sort); do
        checked=$((checked + 1))
        for module in $(sed -nE 's/^ *(@[a-zA-Z_()]+ )?((public|package|internal|fileprivate|private) )?import ((struct|class|enum|func) )?([A-Za-z0-9_]+).*/\6/p' "$file"); do
            case "$allowed" in
                *" $module "*) ;;
                *) echo "$file imports $module, which $room may not"; status=1 ;;
            esac
        done
    done
}
allow PurchaseVerification Crypto CryptoExtras Foundation FoundationEssentials Synchronization
allow PurchaseAPI Foundation Synchronization
allow CZlib
allow PurchaseLedger PurchaseVerification CZlib Crypto Foundation GRDB Synchronization
allow PurchaseServer PurchaseLedger PurchaseVerification PurchaseAPI Yams Crypto Foundation HTTPTypes Hummingbird HummingbirdCore Logging NIOCore NIOHTTP1 NIOHTTPTypes Synchronization
allow AppStoreSimulator PurchaseAPI Crypto CryptoExtras Foundation GRDB HTTPTypes Hummingbird HummingbirdCore Logging NIOCore NIOHTTP1 NIOPosix
allow assay AppStoreSimulator PurchaseAPI PurchaseLedger PurchaseServer PurchaseVerification ArgumentParser Foundation Hummingbird Logging
# What is particular to an engine stays in its driver.
for file in $(grep -rlE '^ *(public |internal )?import GRDB' Sources/PurchaseLedger --include='*.swift'); do
    case "$file" in
        Sources/PurchaseLedger/Store/SQLite/*) ;;
        *) echo "$file imports GRDB outside of the driver"; status=1 ;;
    esac
done
for folder in Sources/*/; do
    room=$(basename "$folder")
    case "$rooms" in
        *" $room "*) ;;
        *) echo "Sources/$room is not in the table of dev/check-imports.sh"; status=1 ;;
    esac
done
[ "$checked" -gt 0 ] || { echo "no source file was checked"; exit 1; }
[ "$status" -eq 0 ] && echo "imports: $checked files, all as the design allows"
exit $status
