#!/usr/bin/env python3
"""Writes the documentation to .build/documentation: the documents as HTML with a search field, and the libraries with DocC, from their doc
comments and catalogues.

    dev/docs.py [--pages]     only the pages

The order of the documents is that of docs/README.md. Links to other files of the repository lead to copies of them. A link that leads
nowhere fails, and so does a warning of DocC.
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from loads.server import with_packages

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = ROOT / ".build/documentation"
BUILD = ["--scratch-path", ROOT / ".build", "--disable-build-manifest-caching"]
# Documents that docs/README.md does not lead to.
MORE = ["CONTRIBUTING.md", "SECURITY.md", "Benchmarks/README.md", "Benchmarks/measurements.md", "Benchmarks/Torture/README.md", "CHANGELOG.md"]

STYLE = """
:root { color-scheme: light dark; --line: light-dark(#dcdad3, #343a42); --soft: light-dark(#5c6570, #9aa4b0); --accent: light-dark(#0a6b5d, #58c7b3); }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; background: light-dark(#fff, #15171a); color: light-dark(#1c2024, #e7e9ec); display: grid; grid-template-columns: 15rem minmax(0, 48rem); gap: 2.5rem; padding: 1.5rem; }
nav { font-size: .9rem; } nav b { display: block; margin: 1rem 0 .2rem; color: var(--soft); font-weight: 600; } nav a { display: block; padding: .1rem 0; text-decoration: none; }
nav a[aria-current] { font-weight: 650; } a { color: var(--accent); } nav input { width: 100%; font: inherit; padding: .3rem .5rem; } nav small { display: block; color: var(--soft); }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: .92rem; } th, td { border-bottom: 1px solid var(--line); padding: .35rem .8rem .35rem 0; text-align: left; vertical-align: top; }
img { max-width: 100%; border: 1px solid var(--line); border-radius: .4rem; }
pre { background: light-dark(#f5f4f0, #1e2126); border: 1px solid var(--line); border-radius: .4rem; padding: .7rem; overflow-x: auto; } code { font: .87em ui-monospace, monospace; }
@media (max-width: 60rem) { body { grid-template-columns: minmax(0, 1fr); padding: 1rem; } }
"""

# Sections that have all words of a query, those with words in their heading first. The index is a script, so it also loads from a file.
SEARCH = """
const field = document.querySelector("input"), found = document.querySelector("#found");
field.addEventListener("focus", () => { if (!window.sections) { window.sections = []; const index = document.createElement("script"); index.src = "search.js"; index.onload = show; document.head.append(index); } });
field.addEventListener("input", show);
function show() {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean), hits = [];
  for (const [link, title, text] of words.length ? window.sections ?? [] : []) {
    const head = title.toLowerCase(), body = text.toLowerCase();
    if (words.every(word => head.includes(word) || body.includes(word))) hits.push([words.filter(word => head.includes(word)).length, link, title, text, body.indexOf(words[0])]);
  }
  hits.sort((a, b) => b[0] - a[0]);
  found.replaceChildren(...hits.slice(0, 12).flatMap(([, link, title, text, at]) => {
    const line = document.createElement("a"), words = document.createElement("small");
    line.href = link; line.textContent = title; words.textContent = text.slice(Math.max(0, at - 30), Math.max(0, at - 30) + 90);
    return [line, words];
  }), hits.length || !words.length ? "" : "nothing found");
}
"""


def slug(text, _separator="-"):
    """The anchor that GitHub gives a heading, so that links mean the same in both places."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def page(document):
    names = {"README.md": "index.html", "docs/README.md": "documents.html"}
    return names.get(document) or re.sub(r"(^docs/|\.md$)", "", document).replace("/", "-").lower() + ".html"


def title(document):
    return re.search(r"^# (.+)$", (ROOT / document).read_text(), re.M).group(1).replace("`", "")


def contents():
    """The documents by the heading of docs/README.md below which they are linked first."""
    groups, known = {"Start": ["README.md", "docs/README.md"]}, {"README.md", "docs/README.md"}
    for part in re.split(r"^## ", (ROOT / "docs/README.md").read_text(), flags=re.M)[1:]:
        heading, _, text = part.partition("\n")
        for target in re.findall(r"\]\(([^)#:]+\.md)", text):
            document = str(((ROOT / "docs" / target).resolve()).relative_to(ROOT))
            if document not in known:
                known.add(document)
                groups.setdefault(heading.strip(), []).append(document)
    groups["More"] = [document for document in MORE if document not in known]
    return groups


def link(document, target, published):
    """Where a link of a document leads to in the site."""
    if re.match(r"[a-z]+:|#", target):
        return target
    file, mark, anchor = target.partition("#")
    path = ((ROOT / document).parent / file).resolve()
    name = str(path.relative_to(ROOT))
    if name in published:
        return page(name) + mark + anchor
    copy = OUTPUT / "files" / name
    (copy if path.is_dir() else copy.parent).mkdir(parents=True, exist_ok=True)
    if path.is_file():
        shutil.copy(path, copy)
    return f"files/{name}{mark}{anchor}"


def sections(document, body):
    """The parts of a page for the search: link, title and text."""
    parts = re.split(r'<h[1-4] id="([^"]*)">(.*?)</h[1-4]>', body, flags=re.S)
    for anchor, heading, text in zip(parts[1::3], parts[2::3], parts[3::3]):
        plain = [html.unescape(" ".join(re.sub(r"<[^>]+>", " ", each).split())) for each in (heading, text)]
        yield [f"{page(document)}#{anchor}", plain[0] if plain[0] == title(document) else f"{title(document)} › {plain[0]}", plain[1]]


def pages():
    with_packages("docs", "markdown")
    import markdown
    groups = contents()
    published = [document for documents in groups.values() for document in documents]
    modules = sorted(path.name for path in OUTPUT.iterdir() if (path / "documentation").is_dir())
    index = []
    for document in published:
        # A list may follow a paragraph without an empty line, as on GitHub.
        text = re.sub(r"(?m)^(?!\s*(?:[-*]|\d+\.) |\s*$|    )(.*)\n(?=(?:[-*]|\d+\.) )", r"\1\n\n", (ROOT / document).read_text())
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"], extension_configs={"toc": {"slugify": slug}})
        index += sections(document, body)
        body = re.sub(r'(href|src)="([^"]+)"', lambda found: f'{found[1]}="{html.escape(link(document, html.unescape(found[2]), published))}"', body)
        lines = ['<input type="search" placeholder="Search" aria-label="Search"><div id="found"></div>']
        for group, documents in groups.items():
            lines.append(f"<b>{group}</b>")
            lines += [f'<a href="{page(each)}"{chr(32) + "aria-current=page" if each == document else ""}>{html.escape(title(each))}</a>' for each in documents]
        lines += ["<b>Swift libraries</b>"] * bool(modules)
        lines += [f'<a href="{module}/documentation/{module.lower()}/">{module}</a>' for module in modules]
        (OUTPUT / page(document)).write_text(
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{html.escape(title(document))} · Assay</title><style>{STYLE}</style></head>\n"
            f"<body><nav>{chr(10).join(lines)}</nav><main>{body}</main><script>{SEARCH}</script></body></html>\n")
    (OUTPUT / "search.js").write_text(f"sections = {json.dumps(index, ensure_ascii=False)}; show();\n")
    print(f"{len(published)} documents, {len(index)} sections to search: {OUTPUT}/index.html")


def libraries(package):
    """The documentation of the modules of one package."""
    print(f"Building the package in {package}", file=sys.stderr)
    for graphs in ROOT.glob(".build/*/symbolgraph"):
        shutil.rmtree(graphs)
    docc = shutil.which("docc") or subprocess.run(["xcrun", "--find", "docc"], capture_output=True, text=True, check=True).stdout.strip()
    # The command also asks for the symbols of the test runner's generated modules. Some toolchains have not built them at this point and
    # exit with an error, after they have written all others. A missing graph is an error below.
    dumped = subprocess.run(["swift", "package", "--package-path", package, *BUILD, "dump-symbol-graph", "--minimum-access-level", "public",
                             "--skip-synthesized-members"], cwd=ROOT, capture_output=True, text=True)
    graphs = re.search(r"^Files written to (.+)$", dumped.stdout + dumped.stderr, re.M)
    for catalogue in sorted((ROOT / package).glob("Sources/*/*.docc")):
        module = catalogue.parent.name
        files = [*pathlib.Path(graphs[1]).glob(f"{module}.symbols.json"), *pathlib.Path(graphs[1]).glob(f"{module}@*.json")] if graphs else []
        if not files:
            sys.exit(f"{(dumped.stdout + dumped.stderr)[-4000:]}\nThere are no symbols of {module}; the reason is above.")
        with tempfile.TemporaryDirectory() as folder:
            for file in files:
                shutil.copy(file, folder)
            run = subprocess.run([docc, "convert", catalogue, "--additional-symbol-graph-dir", folder, "--transform-for-static-hosting",
                                  "--hosting-base-path", module, "--output-dir", OUTPUT / module], capture_output=True, text=True)
        # Parameters whose names say it all have no comment.
        wrong = [line for line in (run.stdout + run.stderr).splitlines()
                 if re.match("(warning|error): ", line) and not line.endswith("is missing documentation")]
        if run.returncode or wrong:
            sys.exit("\n".join(wrong) or run.stdout + run.stderr)
        print(f"{module}: {OUTPUT}/{module}", flush=True)


def main():
    if "--pages" not in sys.argv:
        subprocess.run([ROOT / "dev/check.py", "links"], check=True)
        shutil.rmtree(OUTPUT, ignore_errors=True)
        for package in (".", "Server"):
            libraries(package)
        # The pages are written by another process, which may have to begin with packages of its own.
        return subprocess.run([__file__, "--pages"], check=True)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    pages()
    print(f"Read it with: python3 -m http.server --directory {OUTPUT}, at http://127.0.0.1:8000")


if __name__ == "__main__":
    main()
