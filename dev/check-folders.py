#!/usr/bin/env python3
"""Fails if a file uses a type, or a member of an extension, that is declared in a folder after its own.

The folders of a module cannot import each other, so their order is checked by name: what is declared in one folder may be named only
in that folder and in those after it in the list. Files beside the folders are the place ".".
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ORDERS = {
    "Server/Sources/AppStoreConnection": [".", "ServerAPI"],
    "Server/Sources/AppStoreSimulator": [
        "Store", "Evidence", "Requests", "Storage", "ServerAPI", "Service", "VerifyReceipt", "ServerAPIAnswers", "Attacks",
        "Notifications", "Scenario", "Server",
    ],
    "Server/Sources/HTTPConnections": ["."],
    "Server/Sources/PurchaseConsole": ["."],
    "Server/Sources/PurchaseServer": [
        "Answers", "Configuration", "Metrics", "HTTP", "Record", "Webhooks", "VerifyReceipt", "AppStore", "Purchases",
        "Notifications", ".",
    ],
    "Server/Sources/assay": ["Terminal", "Input", "Output", "Minting", "Importing", "Doctor", "Commands", "."],
    "Sources/EvidenceMint": [
        "Encoding", "Authority", "Receipt", "TransactionReceipt", "SignedPayload", "Faults", "Signing",
    ],
    "Sources/PurchaseAPI": ["JSON", ".", "VerifyReceipt", "Requests", "Purchases"],
    "Sources/PurchaseKit": ["Terms", "Products", "Outside", "Record", "Server", "Events", "Device", "Engine", "Screen"],
    "Sources/PurchaseKitSimulator": ["."],
    "Sources/PurchaseMessages": [".", "Signatures"],
    "Sources/PurchaseVerification": [
        "Terms", "Bytes", "ASN1", "Platform", "Certificates", "CMS", "AppReceipt", "TransactionReceipt", "JWS",
        "Evidence", "Policies", ".", "Inspection",
    ],
    "Server/Sources/PurchaseLedger": ["Store", "Terms", "Decisions", "Tables", "Record", "Schema", "Loading", "Applying", "Operations", "Audit", "Copy"],
}
TYPE = re.compile(
    r"^(?:@\w+(?:\([^)]*\))?\s+)*((?:(?:public|package|internal|fileprivate|private|indirect|final|nonisolated) )*)"
    r"(?:struct|enum|class|protocol|actor|typealias) (\w+)",
    re.M,
)
MEMBER = re.compile(r"^    ((?:\w+ )*)(?:var|let|func) (\w+)", re.M)
EXTENSION = re.compile(r"^((?:\w+ )*)extension [^{]*\{(.*?)^\}", re.M | re.S)
# Comments and literals name types without using them.
IGNORED = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*')


def problems(module: pathlib.Path, order: list[str]) -> tuple[list[str], int, int]:
    def folder_of(path: pathlib.Path) -> str:
        parts = path.relative_to(module).parts
        return parts[0] if len(parts) > 1 else "."

    sources = {path: IGNORED.sub(" ", path.read_text()) for path in sorted(module.rglob("*.swift"))}
    found = [f"{path.name} lies outside of the folders {', '.join(order)}" for path in sources if folder_of(path) not in order]
    types: dict[str, set[str]] = {}
    members: dict[str, set[str]] = {}
    for path, source in sources.items():
        for access, name in TYPE.findall(source):
            if "private" not in access:
                types.setdefault(name, set()).add(folder_of(path))
        # A member of a type is found by its type; one of an extension may be in a folder after that of its type.
        extended = "".join(body for access, body in EXTENSION.findall(source) if "private" not in access)
        for access, name in MEMBER.findall(extended):
            if "private" not in access:
                members.setdefault(name, set()).add(folder_of(path))
    # A name that something else has as well may be that of the other.
    for path, source in sources.items():
        for name in re.findall(r"\b(?:var|let|func) (\w+)", EXTENSION.sub(" ", source)):
            members.pop(name, None)
        for cases in re.findall(r"^ *(?:indirect )?case (\w+[^:{\n]*)$", source, re.M):
            for name in re.findall(r"\b\w+\b", cases):
                members.pop(name, None)
        # A type in another type can have the name of one that comes later.
        for name in re.findall(r"^ +(?:\w+ )*(?:struct|enum|class|protocol|actor|typealias) (\w+)", source, re.M):
            if name in types:
                types[name].add(folder_of(path))
    for path, source in sources.items():
        place = folder_of(path)
        if place not in order:
            continue
        used = [(name, types.get(name, set())) for name in sorted(set(re.findall(r"\b[A-Z]\w+\b", source)))]
        used += [(name, members.get(name, set())) for name in sorted(set(re.findall(r"\.(\w+)\b", source)))]
        for name, owners in used:
            if owners and all(owner in order and order.index(owner) > order.index(place) for owner in owners):
                found.append(f"{path.relative_to(ROOT)} uses {name} of {', '.join(sorted(owners))}, which comes after {place}")
    if not sources or not types:
        found.append(f"no source file was found in {module}")
    return found, len(sources), len(types)


def main() -> int:
    found: list[str] = []
    for name, order in ORDERS.items():
        more, files, types = problems(ROOT / name, order)
        found += more
        if not more:
            print(f"folders: {files} files and {types} types of {pathlib.Path(name).name}, each in the order of the folders")
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


sys.exit(main())
