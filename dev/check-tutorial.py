#!/usr/bin/env python3
"""Runs the tutorials as a new user would: the shell blocks of each document in order, in one shell, in an empty folder.

    dev/check-tutorial.py [FOLDER OF THE PROGRAM [DOCUMENT…]]

A block "```sh" holds commands. A block "```text" below it states their output: each of its lines must occur in that order among the
lines of the output. In a stated line, "…" stands for any text; a line "…" alone, for any lines. The script fails if a command fails or a
stated line is missing, or after ten minutes. The tutorials use the ports 8000, 8080 and 8090, which must be free.
"""
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The processes that the tutorial starts end with the shell that runs it, whatever happens.
START = """set -eu
trap 'set +e; for process in $(jobs -p); do kill $process 2>/dev/null; done; wait' EXIT
trap 'exit 143' TERM
"""


def steps_of(document):
    """The commands of each step, and the output that is stated for them."""
    steps = []
    for kind, content in re.findall(r"^```(sh|text)\n(.*?)^```$", (ROOT / document).read_text(), re.M | re.S):
        if kind == "sh":
            steps.append([content, ""])
        elif steps:
            steps[-1][1] += content
    return steps or sys.exit(f"{document} has no shell blocks")


def missing(stated, output):
    """The first stated line that the output does not have behind the one before; None if it has all."""
    place = 0
    for line in stated:
        pattern = ".*".join(re.escape(part) for part in line.rstrip().split("…"))
        found = next((at for at in range(place, len(output)) if re.fullmatch(pattern, output[at].rstrip())), None)
        if found is None:
            return line
        place = found + 1
    return None


def check(document, program):
    steps = steps_of(document)
    with tempfile.TemporaryDirectory(prefix="assay-tutorial-") as place:
        folder = pathlib.Path(place)
        (folder / "empty").mkdir()
        run = START
        for number, (commands, _) in enumerate(steps):
            (folder / f"{number}.sh").write_text(commands)
            run += f". '{folder}/{number}.sh' >'{folder}/{number}.output' 2>&1 </dev/null\n"
        variables = {"PATH": f"{program}{os.pathsep}{os.environ['PATH']}", "ASSAY_REPOSITORY": str(ROOT)}
        shell = subprocess.Popen(["sh", "-c", run], cwd=folder / "empty", env=os.environ | variables, stdin=subprocess.DEVNULL)
        try:
            status = shell.wait(timeout=600)
        except subprocess.TimeoutExpired:
            shell.terminate()
            status = shell.wait()
        outputs = [path.read_text() for path in sorted(folder.glob("*.output"), key=lambda path: int(path.stem))]
    if status:
        sys.exit(f"{document}: a command of block {len(outputs)} failed:\n{steps[len(outputs) - 1][0]}\n{outputs[-1]}")
    count = 0
    for number, ((_, text), output) in enumerate(zip(steps, outputs), 1):
        stated = [line for line in text.splitlines() if line.strip() not in ("", "…")]
        count += len(stated)
        if line := missing(stated, output.splitlines()):
            sys.exit(f"{document}: block {number} does not print: {line}\n{output}")
    print(f"{document}: {len(steps)} blocks run, {count} stated lines printed")


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/release")
    # The tutorial of the app's side builds the stand-in for StoreKit, which is for systems without StoreKit.
    documents = sys.argv[2:] or ["docs/tutorial.md"] + ["docs/app.md"] * (sys.platform == "linux")
    for port in (8000, 8080, 8090):
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", port)) == 0:
                sys.exit(f"port {port} is in use, and the tutorials need it; stop the program that listens on it")
    for document in documents:
        check(document, program)


main()
