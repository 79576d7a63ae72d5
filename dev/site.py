#!/usr/bin/env python3
"""Writes the documents as a site of HTML pages, with the same links: dev/site.py OUTPUT. Needs PyPI's markdown.

Links to other files of the repository lead to copies of them below OUTPUT/files.
"""
import html
import pathlib
import re
import shutil
import sys

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = pathlib.Path(sys.argv[1])

# The documents by reader, as in docs/README.md. A document that is not here is not published.
PAGES = {
    "Start": ["README.md", "docs/README.md"],
    "Add it to an app": ["docs/tutorial-app.md", "docs/purchase-kit.md", "docs/life-of-a-purchase.md", "docs/xcode.md",
                         "docs/apple-systems.md", "docs/codes.md"],
    "Put it behind a backend": ["docs/tutorial.md", "docs/purchase-server.md", "docs/settings.md", "docs/operators.md",
                                "docs/transcript.md", "docs/notifications.md", "docs/webhooks.md", "docs/ask-apple.md", "docs/refunds.md", "docs/offers.md", "docs/simulator.md"],
    "Change over": ["docs/from-verifyreceipt.md", "docs/drop-in.md", "docs/drop-in-two-years.md", "docs/clients.md",
                    "docs/from-revenuecat.md", "docs/from-nakama.md", "docs/import.md", "docs/compare.md"],
    "Run it": ["docs/operations.md", "docs/running.md", "docs/metrics.md", "docs/postgresql.md",
               "docs/record.md", "docs/threat-model.md", "docs/scaling.md", "docs/compatibility.md", "SECURITY.md"],
    "Change it": ["CONTRIBUTING.md", "docs/ledger.md", "docs/two-years.md", "docs/receipt-format.md",
                  "docs/decisions.md", "Benchmarks/README.md", "Torture/README.md", "CHANGELOG.md"],
}

STYLE = """
:root { color-scheme: light dark; --line: light-dark(#dcdad3, #343a42); --soft: light-dark(#5c6570, #9aa4b0); --accent: light-dark(#0a6b5d, #58c7b3); }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; background: light-dark(#fff, #15171a); color: light-dark(#1c2024, #e7e9ec); display: grid; grid-template-columns: 15rem minmax(0, 48rem); gap: 2.5rem; padding: 1.5rem; }
nav { font-size: .9rem; } nav b { display: block; margin: 1rem 0 .2rem; color: var(--soft); font-weight: 600; } nav a { display: block; padding: .1rem 0; text-decoration: none; }
nav a[aria-current] { font-weight: 650; } a { color: var(--accent); }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: .92rem; } th, td { border-bottom: 1px solid var(--line); padding: .35rem .8rem .35rem 0; text-align: left; vertical-align: top; }
img { max-width: 100%; border: 1px solid var(--line); border-radius: .4rem; }
pre { background: light-dark(#f5f4f0, #1e2126); border: 1px solid var(--line); border-radius: .4rem; padding: .7rem; overflow-x: auto; } code { font: .87em ui-monospace, monospace; }
@media (max-width: 60rem) { body { grid-template-columns: minmax(0, 1fr); padding: 1rem; } }
"""


def slug(text, _separator):
    """The anchor that GitHub gives a heading, so that links mean the same in both places."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def page(document):
    names = {"README.md": "index.html", "docs/README.md": "documents.html"}
    name = names.get(document) or re.sub(r"(^docs/|\.md$)", "", document).replace("/", "-").lower() + ".html"
    return name


def title(document):
    return re.search(r"^# (.+)$", (ROOT / document).read_text(encoding="utf-8"), re.M).group(1).replace("`", "")


PUBLISHED = {(ROOT / document).resolve(): page(document) for group in PAGES.values() for document in group}


def link(document, target):
    """Where a link of a document leads to in the site."""
    if re.match(r"[a-z]+:|#", target):
        return target
    file, mark, anchor = target.partition("#")
    path = ((ROOT / document).parent / file).resolve()
    if path in PUBLISHED:
        return PUBLISHED[path] + mark + anchor
    copy = OUTPUT / "files" / path.relative_to(ROOT)
    if path.is_dir():
        copy.mkdir(parents=True, exist_ok=True)
    else:
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return f"files/{path.relative_to(ROOT)}{mark}{anchor}"


def navigation(current, modules):
    parts = []
    for group, documents in PAGES.items():
        parts.append(f"<b>{group}</b>")
        for document in documents:
            here = ' aria-current="page"' if document == current else ""
            parts.append(f'<a href="{page(document)}"{here}>{html.escape(title(document))}</a>')
    if modules:
        parts.append("<b>Swift libraries</b>")
        parts += [f'<a href="{module}/documentation/{module.lower()}/">{module}</a>' for module in modules]
    return "\n".join(parts)


def main():
    missing = sorted({path.resolve() for path in (ROOT / "docs").glob("*.md")} - PUBLISHED.keys())
    if missing:
        sys.exit(f"dev/site.py does not publish {', '.join(path.name for path in missing)}; add it to PAGES")
    OUTPUT.mkdir(parents=True, exist_ok=True)
    modules = sorted(path.name for path in OUTPUT.iterdir() if (path / "documentation").is_dir())
    for documents in PAGES.values():
        for document in documents:
            text = (ROOT / document).read_text(encoding="utf-8")
            # A list may follow a paragraph without an empty line, as on GitHub.
            text = re.sub(r"(?m)^(?!\s*(?:[-*]|\d+\.) |\s*$|    )(.*)\n(?=(?:[-*]|\d+\.) )", r"\1\n\n", text)
            body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"], extension_configs={"toc": {"slugify": slug}})
            body = re.sub(
                r'(href|src)="([^"]+)"',
                lambda match: f'{match.group(1)}="{html.escape(link(document, html.unescape(match.group(2))))}"', body)
            (OUTPUT / page(document)).write_text(
                f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
                f"<title>{html.escape(title(document))} · Assay</title><style>{STYLE}</style></head>\n"
                f"<body><nav>{navigation(document, modules)}</nav><main>{body}</main></body></html>\n", encoding="utf-8")
    print(f"{len(PUBLISHED)} documents: {OUTPUT}/index.html")


main()
