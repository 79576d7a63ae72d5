#!/usr/bin/env python3
"""Prints debian/copyright of the package (DEP 5): our licence, and each part that bom.cdx.json lists as linked statically.

    dev/release/copyright.py BOM
"""
import json
import sys

# What Debian's own copyright files say about these, in the fewest words. The full texts are in third-party-licenses.txt.
TEXTS = {
    "Apache-2.0": " On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.",
    "Apache-2.0 WITH Swift-exception":
        " The Apache License 2.0 with the Runtime Library Exception of Swift. The text is in third-party-licenses.txt.",
}


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    print("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/")
    print("Upstream-Name: assay")
    print("Comment: The program is linked statically with the parts below. bom.cdx.json has their versions.")
    print("\nFiles: *\nCopyright: 2026 The authors of Assay\nLicense: Apache-2.0")
    used = {"Apache-2.0"}
    for each in document["components"]:
        if any(prop["name"] == "assay:shared" for prop in each.get("properties", [])):
            continue
        expression = each["licenses"][0]["expression"]
        used.add(expression)
        print(f"\nFiles: linked/{each['name'].replace(' ', '-')}\nCopyright: The authors of {each['name']}\nLicense: {expression}")
    for expression in sorted(used):
        print(f"\nLicense: {expression}\n" + TEXTS.get(expression, " The text is in third-party-licenses.txt, in this folder."))


main()
