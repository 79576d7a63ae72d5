#!/usr/bin/env python3
"""Checks the references in all Markdown documents of the repository: each file and heading that a link names must exist, and
each test that is named with its file, as in "The name of the test" (`SomeTests`).

    dev/check-links.py

Links to other sites are not followed. The exit status is 0 if every reference exists.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = re.compile(r'"([^"]+)" \(`(\w+Tests)`')
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()]*\))?)\)")


def text_without_code(path):
    """The lines of a document without fenced blocks, indented blocks and inline code."""
    lines, is_fenced = [], False
    for line in path.read_text(encoding="utf-8").splitlines():
        if re.match(r"\s*(```|~~~)", line):
            is_fenced = not is_fenced
            lines.append("")
        else:
            lines.append("" if is_fenced or line.startswith("    ") else re.sub(r"`[^`]*`", "", line))
    return lines


def slug(heading):
    """The anchor that GitHub gives a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors(path):
    found, is_fenced = {}, False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            is_fenced = not is_fenced
        heading = re.match(r"#{1,6} +(.*?)#*$", line)
        if heading and not is_fenced:
            name = slug(heading.group(1))
            count = found.get(name, 0)
            found[name] = count + 1
            if count:
                found[f"{name}-{count}"] = 1
    return found


def tests():
    """The names of all tests, by the name of their file."""
    found = {}
    for file in [*ROOT.glob("Tests/**/*Tests.swift"), *ROOT.glob("Server/Tests/**/*Tests.swift")]:
        # A name may continue on the next line of the source.
        found[file.stem] = found.get(file.stem, "") + file.read_text(encoding="utf-8")
    return found


def main():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    documents = [ROOT / name for name in names.stdout.split() if (ROOT / name).exists()]
    known, broken, count, named = {}, [], 0, 0
    sources = tests()
    for document in documents:
        for test, file in TEST.findall(document.read_text(encoding="utf-8")):
            # A name may continue on the next line of the document.
            test = " ".join(test.split())
            named += 1
            if f'"{test.rstrip("…").strip()}' not in sources.get(file, ""):
                broken.append(f'{document.relative_to(ROOT)}: {file} has no test "{test}"')
        text = "\n".join(text_without_code(document))
        # The words of a link may continue on the next line.
        for link in LINK.finditer(text):
            target, number = link.group(1), text.count("\n", 0, link.start()) + 1
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            file, _, anchor = target.partition("#")
            path = (document.parent / file).resolve() if file else document
            place = f"{document.relative_to(ROOT)}:{number}: {target}"
            if not path.exists():
                broken.append(f"{place}: there is no such file")
            elif anchor and path.suffix == ".md":
                if path not in known:
                    known[path] = anchors(path)
                if anchor not in known[path]:
                    broken.append(f"{place}: there is no such heading")
    contents, site = (ROOT / "docs/README.md").read_text(encoding="utf-8"), (ROOT / "dev/site.py").read_text(encoding="utf-8")
    for document in sorted((ROOT / "docs").glob("*.md")):
        if document.name != "README.md" and f"]({document.name})" not in contents.replace("\n", " "):
            broken.append(f"docs/README.md has no link to {document.name}, so no reader finds it")
        if f'"docs/{document.name}"' not in site:
            broken.append(f"dev/site.py does not publish docs/{document.name}; add it to PAGES")
    if not count:
        sys.exit("no link was found, so nothing was checked")
    if broken:
        sys.exit("\n".join(broken))
    print(f"links: {count} in {len(documents)} documents lead to files and headings that exist; {named} tests that they name exist")


if __name__ == "__main__":
    main()
