#!/usr/bin/env python3
"""Fails if a file of PurchaseLedger uses a type that is declared in a folder below its own.

The folders of a module cannot import each other, so the order of docs/ledger.md is checked by name: a type that is declared in one
folder may be named only in that folder and in those after it in the list.
"""
import pathlib
import re
import sys

MODULE = pathlib.Path(__file__).resolve().parent.parent / "Server/Sources/PurchaseLedger"
ORDER = ["Store", "Terms", "Decisions", "Tables", "Record", "Schema", "Operations", "Audit", "Copy"]
DECLARATION = re.compile(r"^(?:public |package |fileprivate |private |indirect |final )*(?:struct|enum|class|protocol|typealias|actor) (\w+)", re.M)
# Comments and literals name types without using them.
IGNORED = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*')


def folder_of(path: pathlib.Path) -> str:
    return path.relative_to(MODULE).parts[0]


def main() -> int:
    files = sorted(MODULE.rglob("*.swift"))
    sources = {path: IGNORED.sub(" ", path.read_text()) for path in files}
    problems = [f"{path.name} lies outside of the folders {', '.join(ORDER)}" for path in files if folder_of(path) not in ORDER]
    declared: dict[str, str] = {}
    for path, source in sources.items():
        for name in DECLARATION.findall(source):
            declared.setdefault(name, folder_of(path))
    for path, source in sources.items():
        place = folder_of(path)
        if place not in ORDER:
            continue
        for name in sorted(set(re.findall(r"\b[A-Z]\w+\b", source))):
            owner = declared.get(name)
            if owner in ORDER and ORDER.index(owner) > ORDER.index(place):
                problems.append(f"{path.relative_to(MODULE)} uses {name} of {owner}, which comes after {place}")
    if not files or not declared:
        problems.append(f"no source file was found in {MODULE}")
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    print(f"folders: {len(files)} files and {len(declared)} types of PurchaseLedger, each in the order of the folders")
    return 0


sys.exit(main())
