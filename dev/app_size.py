#!/usr/bin/env python3
"""Prints what PurchaseKit adds to an app: the lines of the modules that an app links, and the size of two programs, which differ only
in the kit, optimised for size and without symbols.

In both, the runtime of Swift and Foundation belong to the system, as on Apple's systems. There, Crypto is part of the system, too; on
Linux it contains BoringSSL, which is shown on a line of its own. If the program does not grow, nothing was linked, and the script fails.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
folder = root / ".build" / "app-size"

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "app-size", platforms: [.macOS(.v12)], dependencies: [.package(name: "assay", path: "../..")],
    targets: [
        .executableTarget(name: "without"),
        .executableTarget(name: "with", dependencies: [.product(name: "PurchaseKit", package: "assay")]),
    ])
"""

# Both programs can reach a server, as an app does.
WITHOUT = """import Foundation
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
let request = URLRequest(url: URL(fileURLWithPath: CommandLine.arguments[0]))
let (data, _) = try await URLSession(configuration: .ephemeral).data(for: request)
print(data.count, try JSONDecoder().decode([String].self, from: data))
"""

WITH = WITHOUT + """
#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif
import PurchaseKit
import PurchaseVerification

struct Nobody: DeviceIdentity {
    func receiptIdentifiers() async -> [DeviceIdentifier] { [] }
    func deviceVerificationID() async -> DeviceIdentifier? { nil }
}
struct Queue: PaymentQueue {
    func updates() -> AsyncStream<PaymentTransaction> { AsyncStream { $0.finish() } }
    func unfinished() async throws -> [PaymentTransaction] { [] }
    func buy(_: PurchasePayment) async throws -> PaymentResult { .pending }
    func finish(_: PaymentTransaction) async throws {}
    func restore() async throws -> [PaymentTransaction] { [] }
    func current() async throws -> [PaymentTransaction]? { nil }
    func environment() async -> String? { nil }
}
let file = URL(fileURLWithPath: CommandLine.arguments[0])
let engine = PurchaseEngine(
    queue: Queue(),
    verifier: DeviceVerifier(app: AppIdentity(bundleID: "com.example.app", version: "1"), device: Nobody()),
    server: PurchaseConnection(
        service: HTTPPurchaseService(server: file), key: "", answerKeys: try AnswerKeys(current: "")),
    store: FilePurchaseStore(file: file, key: SymmetricKey(size: .bits256)))
await engine.signIn(PurchaseCustomer(id: "alice"))
print(await engine.buy("coins"), await engine.restore(), try await engine.entitlements(), try await engine.diagnostics())
await engine.run()
"""

MODULES = [
    ("PurchaseKit", r"^\$s11PurchaseKit|11PurchaseKit"),
    ("PurchaseVerification", r"20PurchaseVerification|11TextFormats|CBase64"),
    ("PurchaseMessages", r"16PurchaseMessages"),
    ("BoringSSL", r"CCryptoBoringSSL"),
    ("the rest of swift-crypto", r"6Crypto|CryptoExtras|CryptoBoringWrapper"),
]


def print_lines(product):
    """The lines of the modules that a product links, by the manifest."""
    described = subprocess.run(["swift", "package", "describe", "--type", "json"], cwd=root, check=True, capture_output=True, text=True)
    targets, linked = {target["name"]: target for target in json.loads(described.stdout)["targets"]}, [product]
    for name in linked:
        linked += [each for each in targets[name].get("target_dependencies", []) if each not in linked]
    lines = {name: sum((root / targets[name]["path"] / file).read_bytes().count(b"\n") for file in targets[name]["sources"])
             for name in linked}
    if min(lines.values()) == 0:
        sys.exit(f"a module of {product} has no lines: {lines}")
    print(f"{product} links         {sum(lines.values()):>10,} lines, of which are")
    for name, count in lines.items():
        print(f"    {name:<24}{count:>10,}")


def main():
    print_lines("PurchaseKitStoreKit")
    shutil.rmtree(folder / "Sources", ignore_errors=True)
    for name, text in [("without", WITHOUT), ("with", WITH)]:
        (folder / "Sources" / name).mkdir(parents=True)
        (folder / "Sources" / name / "main.swift").write_text(text)
    (folder / "Package.swift").write_text(MANIFEST)
    subprocess.run(
        ["swift", "build", "-c", "release", "--package-path", folder, "--scratch-path", folder / "build",
         "-Xswiftc", "-Osize", "-Xlinker", "--gc-sections"], check=True, stdout=sys.stderr)
    sizes = {}
    for name in ["without", "with"]:
        program = folder / "build" / "release" / name
        stripped = folder / name
        subprocess.run(["strip", "-o", stripped, program], check=True)
        sizes[name] = stripped.stat().st_size
    added = sizes["with"] - sizes["without"]
    if added < 200_000:
        sys.exit(f"the program with the kit is only {added} bytes larger: the kit was not linked")
    print(f"an app without PurchaseKit  {sizes['without']:>10,} bytes")
    print(f"the same app with it        {sizes['with']:>10,} bytes")
    print(f"added                       {added:>10,} bytes, of which are")
    lines = subprocess.run(
        ["nm", "--print-size", "--defined-only", folder / "build" / "release" / "with"],
        check=True, capture_output=True, text=True).stdout.splitlines()
    totals = dict.fromkeys([name for name, _ in MODULES], 0)
    for line in lines:
        fields = line.split()
        # Zero-filled memory is not in the file.
        if len(fields) != 4 or fields[2] in "bB":
            continue
        for name, pattern in MODULES:
            if re.search(pattern, fields[3]):
                totals[name] += int(fields[1], 16)
                break
    totals["other, unwind tables"] = added - sum(totals.values())
    for name, size in totals.items():
        print(f"    {name:<24}{size:>10,}")


main()
