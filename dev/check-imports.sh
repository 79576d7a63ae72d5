#!/bin/sh
# Fails when a room imports what docs/design.md does not allow it. The table below is the one in CONTRIBUTING.md.
set -eu
cd "$(dirname "$0")/.."
status=0
checked=0
allow() {
    room=$1; shift
    allowed=" $* "
    for file in $(find "Sources/$room" -name '*.swift' | sort); do
        checked=$((checked + 1))
        for module in $(sed -nE 's/^ *(@[a-zA-Z_()]+ )?(public |package |internal )?import ((struct|class|enum|func) )?([A-Za-z0-9_]+).*/\5/p' "$file"); do
            case "$allowed" in
                *" $module "*) ;;
                *) echo "$file imports $module, which $room may not"; status=1 ;;
            esac
        done
    done
}
allow PurchaseVerification Crypto CryptoExtras Foundation FoundationEssentials Synchronization
allow PurchaseAPI Foundation Synchronization
allow PurchaseServer PurchaseVerification PurchaseAPI Crypto Foundation HTTPTypes Hummingbird HummingbirdCore Logging NIOCore NIOHTTPTypes Synchronization
allow AppStoreSimulator PurchaseAPI Crypto CryptoExtras Foundation SwiftASN1 Hummingbird
allow assay AppStoreSimulator PurchaseAPI PurchaseServer PurchaseVerification ArgumentParser Foundation Hummingbird Logging
[ "$checked" -gt 0 ] || { echo "no source file was checked"; exit 1; }
[ "$status" -eq 0 ] && echo "imports: $checked files, all as the design allows"
exit $status
