"""Prints the size of the repository, and of each part that has a budget: dev/lines.sh [--strict] [COMMIT].

Sources are the tracked Swift, C, Python and shell files outside of folders called Tests, tests are those inside. With --strict, it is an
error to be over budget. A commit is measured instead of the working tree.
"""
import collections
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What is measured, what is allowed, and whether it is only an aim. Parts of the sources add up.
BUDGETS = [
    ("sources", 108_000, False), ("tests", 60_000, False), ("LedgerRules+PurchaseLedger", 28_000, False), ("PurchaseServer", 11_300, True),
    ("assay", 7_200, True), ("AppStoreSimulator", 9_800, True), ("PurchaseAPI+PurchaseMessages", 4_800, True), ("Benchmarks", 6_500, True),
    ("dev", 7_000, True), ("Swift files under 40 lines", 250, False), ("words of README and docs", 70_000, False),
]


def grep(*arguments, commit, files):
    run = subprocess.run(["git", "grep", *arguments, "", *commit, "--", *files], cwd=ROOT, check=True, capture_output=True, text=True)
    return run.stdout


def place_of(path):
    """The kind, the module and the folder of a file: Sources/MODULE/FOLDER/…, Server/Sources/MODULE/FOLDER/…, Server/Tests/SUITE/…; other
    folders at the root are modules, too."""
    parts = path.split("/")
    folders, at = parts[:-1], 0
    kind = "tests" if "Tests" in folders else "sources"
    if kind == "tests":
        at = len(folders) - 1 - folders[::-1].index("Tests")
    elif "Sources" in folders and parts[0] in ("Sources", "Server"):
        at = len(folders) - folders[::-1].index("Sources")
    module = "." if not folders else f"{parts[0]}/Tests" if kind == "tests" and at else parts[at]
    return kind, module, parts[at + 1] if at + 2 < len(parts) else "."


def main():
    words = [word for word in sys.argv[1:] if word != "--strict"]
    commit = [subprocess.run(["git", "rev-parse", "--verify", f"{word}^{{commit}}"], check=True, capture_output=True, text=True).stdout.strip()
              for word in words]
    measured, modules = collections.Counter(), collections.defaultdict(collections.Counter)
    for line in grep("-c", commit=commit, files=["*.swift", "*.c", "*.h", "*.cc", "*.py", "*.sh"]).splitlines():
        *_, path, count = line.split(":")
        kind, module, folder = place_of(path)
        modules[kind, module][folder] += int(count)
        measured.update({kind: int(count), module: int(count)})
        if path.endswith(".swift"):
            measured.update({"Swift files": 1, "Swift files under 40 lines": int(count) < 40})
    measured["words of README and docs"] = len(grep("-h", commit=commit, files=["README.md", "docs/*.md"]).split())
    for kind in ("sources", "tests"):
        print(f"{kind}, lines")
        for (_, module), folders in sorted((each for each in modules.items() if each[0][0] == kind), key=lambda each: -each[1].total()):
            parts = ", ".join(f"{folder} {count}" for folder, count in folders.most_common())
            print(f"{folders.total():8} {module}{': ' + parts if len(folders) > 1 else ''}")
        print()
    print(f"{'':34} {'now':>8} {'allowed':>8}")
    over = 0
    for what, allowed, is_aim in BUDGETS:
        now = sum(measured[part] for part in what.split("+"))
        over += now > allowed and not is_aim
        print(f"{what:34} {now:8} {allowed:8}{' (aim)' * is_aim}{'  over' * (now > allowed)}")
    print(f"{'Swift files':34} {measured['Swift files']:8}")
    if over:
        print(f"lines: {over} budgets are exceeded{'' if '--strict' in sys.argv else ' (an error with --strict)'}")
    sys.exit(1 if over and "--strict" in sys.argv else 0)


main()
