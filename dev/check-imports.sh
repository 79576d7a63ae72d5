#!/bin/sh
# Fails if a module imports what the table in CONTRIBUTING.md does not allow, or is not in the table, and if a folder of
# PurchaseLedger uses a folder after its own.
set -eu
cd "$(dirname "$0")/.."
. dev/lib.sh
make_temporary_folder imports
violations="$folder/violations"
: >"$violations"
files=0
listed=" "

# The modules that a file imports, one per line.
imports() {
    sed -nE 's/^ *(@[a-zA-Z_()]+ +)*((public|package|internal|fileprivate|private) +)?import +((struct|class|enum|protocol|typealias|func|let|var) +)?([A-Za-z0-9_]+).*/\6/p' "$1"
}

# allow FOLDER MODULE…   what the sources in a folder may import.
allow() {
    module=$1
    shift
    listed="$listed$module "
    [ -d "$module" ] || { echo "$module does not exist" >>"$violations"; return; }
    allowed=" $* "
    find "$module" -name '*.swift' | sort >"$folder/files"
    while read -r file; do
        imports "$file" >"$folder/imports"
        while read -r import; do
            case "$allowed" in
                *" $import "*) ;;
                *) echo "$file imports $import, which $module may not" >>"$violations" ;;
            esac
        done <"$folder/imports"
        files=$((files + 1))
    done <"$folder/files"
}

# The lists below are words.
# shellcheck disable=SC2086
table() {
    foundation="Foundation FoundationEssentials"
    server="HTTPTypes Hummingbird HummingbirdCore Logging NIOCore NIOHTTP1 NIOHTTPTypes NIOHTTPTypesHTTP1 NIOPosix Synchronization"

    # What apps link. dev/check-availability.py says where Synchronization may be used.
    allow Sources/CBase64
    allow Sources/PurchaseVerification CBase64 Crypto CryptoExtras CryptoKit Security Synchronization $foundation
    allow Sources/PurchaseMessages Foundation
    allow Sources/PurchaseAPI PurchaseMessages Foundation
    # FoundationNetworking has URLSession where it is not in Foundation; the C libraries have the calls that make a file durable.
    allow Sources/PurchaseKit PurchaseMessages PurchaseVerification Combine Crypto CryptoKit Foundation FoundationNetworking SwiftUI os Darwin Glibc Musl
    # Apple's frameworks, and nothing else outside of the kit.
    allow Sources/PurchaseKitStoreKit PurchaseKit PurchaseVerification Foundation StoreKit AppKit UIKit WatchKit IOKit Network Security
    allow Sources/PurchaseKitSimulator PurchaseKit PurchaseVerification Foundation FoundationNetworking
    # Never PurchaseVerification: a misreading of the format must not cancel itself out.
    allow Sources/EvidenceMint Crypto CryptoExtras $foundation

    # What runs on servers.
    allow Server/Sources/BuildInformation
    allow Server/Sources/CPostgreSQL
    allow Server/Sources/CZlib
    allow Server/Sources/PurchaseLedger PurchaseVerification CPostgreSQL CZlib Crypto Dispatch Foundation GRDB GRDBSQLite Synchronization
    allow Server/Sources/AppStoreConnection PurchaseAPI PurchaseVerification AsyncHTTPClient Crypto Foundation NIOCore NIOHTTP1 NIOHTTPCompression NIOPosix NIOSSL Synchronization
    allow Server/Sources/HTTPConnections HTTPTypes NIOCore NIOHTTP1 NIOHTTPTypes Synchronization
    # No HTTP: requests and pages are plain values.
    allow Server/Sources/PurchaseConsole PurchaseAPI PurchaseLedger PurchaseVerification Crypto CryptoExtras Foundation Mustache NIOPosix Synchronization
    allow Server/Sources/PurchaseServer AppStoreConnection HTTPConnections PurchaseAPI PurchaseConsole PurchaseLedger PurchaseVerification AsyncHTTPClient Crypto Foundation HummingbirdTLS Metrics NIOSSL NIOTLS ServiceLifecycle Yams $server
    # Never PurchaseVerification, for the same reason.
    allow Server/Sources/AppStoreSimulator EvidenceMint HTTPConnections PurchaseAPI AsyncHTTPClient Crypto Foundation GRDB HummingbirdTLS NIOSSL ServiceLifecycle Yams $server
    allow Server/Sources/assay AppStoreConnection AppStoreSimulator BuildInformation EvidenceMint PurchaseAPI PurchaseConsole PurchaseLedger PurchaseServer PurchaseVerification \
        ArgumentParser Foundation Hummingbird Logging NIOCore ServiceLifecycle Synchronization UnixSignals

    # Never PurchaseLedger: what is expected of the ledger must be worked out by other code.
    allow Server/Tests/ExpectedEntitlements AppStoreSimulator Foundation
    # Nothing at all: the second implementation of the rules that are compared in small worlds.
    allow Server/Tests/WrittenRules

    # What tests share must not verify either, because the tests of EvidenceMint use it.
    allow Tests/TestSupport EvidenceMint $foundation Glibc Musl Darwin
    allow Tests/EvidenceMintTests EvidenceMint TestSupport Testing Crypto $foundation
}
table

# Code for one engine stays in its driver.
grep -rlE '^ *((public|package|internal) +)?import GRDB' Server/Sources/PurchaseLedger --include='*.swift' >"$folder/files" || true
while read -r file; do
    case "$file" in
        Server/Sources/PurchaseLedger/Store/SQLite/*) ;;
        *) echo "$file imports GRDB, which only Store/SQLite may" >>"$violations" ;;
    esac
done <"$folder/files"

grep -rlE '^ *((public|package|internal) +)?import CPostgreSQL' Server/Sources/PurchaseLedger --include='*.swift' >"$folder/files" || true
while read -r file; do
    case "$file" in
        Server/Sources/PurchaseLedger/Store/PostgreSQL/*) ;;
        *) echo "$file imports CPostgreSQL, which only Store/PostgreSQL may" >>"$violations" ;;
    esac
done <"$folder/files"

for module in Sources/*/ Server/Sources/*/; do
    module=${module%/}
    case "$listed" in
        *" $module "*) ;;
        *) echo "$module is not in the table of dev/check-imports.sh" >>"$violations" ;;
    esac
done

cat "$violations" >&2
[ "$files" -gt 0 ] || fail "No source file was checked."
[ ! -s "$violations" ] || fail "Imports: see the table in CONTRIBUTING.md."
echo "imports: $files files, all as the table allows"
python3 dev/check-folders.py
