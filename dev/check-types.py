#!/usr/bin/env python3
"""Fails if a top-level type that is not private is in a file of another name.

A file may hold several types if its first line is a comment that states the one subject of all of them, before the imports.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["Sources", "Server/Sources"]
DECLARATION = re.compile(
    r"^(?:@\w+(?:\([^)]*\))?\s+)*((?:(?:public|package|internal|fileprivate|private|indirect|final|nonisolated) )*)"
    r"(?:struct|enum|class|protocol|actor|typealias) (\w+)",
    re.M,
)
# Comments and literals declare nothing.
IGNORED = re.compile(r'"""(?:.|\n)*?"""|//[^\n]*')


def hidden_types(path: pathlib.Path) -> list[str]:
    text = path.read_text()
    if re.match(r"// \S", text):
        return []
    declared = DECLARATION.findall(IGNORED.sub("", text))
    return [name for access, name in declared if "private" not in access and name != path.stem]


def main() -> int:
    files = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.swift"))
    problems = 0
    for path in files:
        for name in hidden_types(path):
            problems += 1
            print(
                f"{path.relative_to(ROOT)} declares {name}; move it to {name}.swift, or state the one subject of the file's types "
                "in a comment on its first line",
                file=sys.stderr,
            )
    if not files:
        print(f"no source file was found in {', '.join(FOLDERS)}", file=sys.stderr)
        return 1
    if problems:
        return 1
    print(f"types: each in the file of its name, or of its subject ({len(files)} files)")
    return 0


sys.exit(main())
