#!/usr/bin/env python3
"""Writes the documentation to .build/documentation: the documents as HTML with a search field, and the libraries with DocC, from their doc
comments and catalogues.

    dev/docs.py [--pages]     only the pages

The order of the documents is that of docs/README.md. Links to other files of the repository lead to copies of them. A link that leads
nowhere fails, and so does a warning of DocC.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from servers import with_packages

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = ROOT / ".build/documentation"
BUILD = ["--scratch-path", ROOT / ".build", "--disable-build-manifest-caching"]
# Documents that docs/README.md does not lead to.
MORE = ["CONTRIBUTING.md", "SECURITY.md", "Benchmarks/README.md", "Benchmarks/measurements.md", "Benchmarks/Torture/README.md", "CHANGELOG.md"]


def slug(text, _separator="-"):
    """The anchor that GitHub gives a heading, so that links mean the same in both places."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


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


def copy(document, published, stage):
    """Copies a document and the files that it leads to, in the folders of the repository, so that its links lead to the copies."""
    text = (ROOT / document).read_text()
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        file = ((ROOT / document).parent / target).resolve()
        if file.is_file() and (name := str(file.relative_to(ROOT))) not in published:
            place = stage / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
    # A list may follow a paragraph without an empty line, as on GitHub.
    text = re.sub(r"(?m)^(?!\s*(?:[-*]|\d+\.) |\s*$|    )(.*)\n(?=(?:[-*]|\d+\.) )", r"\1\n\n", text)
    place = stage / document
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def pages():
    with_packages("docs", "mkdocs<2")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    groups = contents()
    published = [document for documents in groups.values() for document in documents]
    modules = sorted(path.name for path in OUTPUT.iterdir() if (path / "documentation").is_dir())
    navigation = [{group: [{title(document): document} for document in documents]} for group, documents in groups.items()]
    navigation += [{"Swift libraries": [{module: f"/{module}/documentation/{module.lower()}/"} for module in modules]}] * bool(modules)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "mkdocs.yml").write_text("site_name: Assay")
        for document in published:
            copy(document, published, folder / "documents")
        build(load_config(
            str(folder / "mkdocs.yml"), docs_dir=str(folder / "documents"), site_dir=str(folder / "site"), nav=navigation,
            use_directory_urls=False, theme={"name": "readthedocs"}, markdown_extensions=["tables", "fenced_code", {"toc": {"slugify": slug}}]))
        shutil.copytree(folder / "site", OUTPUT, dirs_exist_ok=True)
    print(f"{len(published)} documents, with a search: {OUTPUT}/index.html")


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
