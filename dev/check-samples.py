#!/usr/bin/env python3
"""Checks the samples in the documents: commands of `assay` against its help, and blocks of JSON, YAML and Python.

    dev/check-samples.py PROGRAM

Every command and option of `assay` that a document names must be in the help of that command. Blocks of JSON and Python must
parse; a block of YAML that holds settings must be accepted by the program; a block of Swift that imports our modules must
compile against those beside the program. dev/check-tutorial.sh runs the tutorial. The exit status is 0 if all agree.
"""
import os
import functools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.path.abspath(sys.argv[1])
# Programs that a command line may end with, before the next command.
END = re.compile(r"[|;&)<>`'\"]| #|\$ ")


def documents():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    # The journals of changes and decisions also name what is gone.
    return [ROOT / name for name in names.stdout.split() if name not in ("CHANGELOG.md", "docs/decisions.md") and (ROOT / name).exists()]


@functools.cache
def help_of(command):
    """The help of a command, or None if there is no such command."""
    run = subprocess.run([PROGRAM, *command, "--help"], capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else None


def subcommands(command):
    text = help_of(command) or ""
    part = text.partition("SUBCOMMANDS:")[2]
    return re.findall(r"^  ([a-z-]+)", part, re.M)


def command_lines(text):
    """Each use of the program, with its line: `assay` at the start of a command."""
    for match in re.finditer(r"(?:^|[\s`(|;&$'\"/])assay ((?:[a-z]|--)[^\n]*(?:\\\n[^\n]*)*)", text):
        words = END.split(match.group(1).replace("\\\n", " "))[0].split()
        yield text.count("\n", 0, match.start(1)) + 1, words


def check_command(words):
    command, rest = [], list(words)
    while rest and rest[0] in subcommands(tuple(command)):
        command.append(rest.pop(0))
    if not command:
        return f"there is no command 'assay {words[0]}'" if not words[0].startswith("-") and is_code(words) else None
    if rest and subcommands(tuple(command)) and re.fullmatch(r"[a-z][a-z-]+", rest[0]):
        return f"there is no command 'assay {' '.join(command)} {rest[0]}'"
    text = help_of(tuple(command))
    for word in rest:
        option = re.match(r"--[a-z][a-z-]*", word)
        if option and not re.search(rf"(?<![\w-]){option.group()}(?![\w-])", text) and option.group() != "--help":
            return f"'assay {' '.join(command)}' has no option {option.group()}"
    return None


def is_code(words):
    """Whether the words look like a command, not like prose about the program."""
    return len(words) > 1 and words[1].startswith("-")


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def main():
    wrong, commands, samples = [], 0, 0
    for document in documents():
        text, name = document.read_text(encoding="utf-8"), document.relative_to(ROOT)
        for number, words in command_lines(text):
            commands += 1
            fault = check_command(words)
            if fault:
                wrong.append(f"{name}:{number}: {fault}")
        for block in blocks(text, "json"):
            samples += 1
            try:
                json.loads(block)
            except ValueError as error:
                wrong.append(f"{name}: a block of JSON does not parse: {error}")
        for block in blocks(text, "python"):
            samples += 1
            try:
                compile(block, str(name), "exec")
            except SyntaxError as error:
                wrong.append(f"{name}: a block of Python does not parse: {error}")
        for block in blocks(text, "yaml"):
            if not re.search(r"^(apps|server|limits|record):", block, re.M):
                continue
            samples += 1
            fault = settings_fault(block)
            if fault:
                wrong.append(f"{name}: a block of settings is refused: {fault}")
        for block in blocks(text, "swift"):
            if not re.search(r"^import (PurchaseVerification|PurchaseKit|EvidenceMint)", block, re.M):
                continue
            samples += 1
            fault = swift_fault(block)
            if fault:
                wrong.append(f"{name}: a block of Swift does not compile: {fault}")
    if commands < 50 or samples < 3:
        sys.exit(f"{commands} commands and {samples} samples were found, so hardly anything was checked")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"samples: {commands} commands have the options that they name; {samples} blocks parse")


def settings_fault(block):
    """What the program says about settings, without the files that they name: those are the reader's."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "assay.yaml")
        path.write_text(block, encoding="utf-8")
        run = subprocess.run([PROGRAM, "keys", "list", "--config", str(path), "--database", "sqlite:none"],
                             cwd=folder, capture_output=True, text=True)
        return None if "there is no such database" in run.stderr else run.stderr.strip()


def swift_fault(block):
    """What the compiler says about a block, with the names that the text around it introduces."""
    lines = block.splitlines()
    if "import PurchaseKitStoreKit" in lines and sys.platform != "darwin":
        print("samples: a block for Apple's platforms is not compiled here")
        return None
    imports = [line for line in lines if line.startswith("import ")]
    rest = [line for line in lines if not line.startswith("import ")]
    source = "\n".join(["import Foundation", *imports, "func sample(bytes: [UInt8], folder: URL) async throws {", *rest, "}"])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "sample.swift")
        path.write_text(source, encoding="utf-8")
        built = pathlib.Path(PROGRAM).absolute().parent
        # The core's one module in C.
        maps = [part for map in built.glob("CBase64.build/module.modulemap") for part in ("-Xcc", f"-fmodule-map-file={map}")]
        run = subprocess.run(["swiftc", "-typecheck", "-swift-version", "6", "-I", str(built / "Modules"), *maps, str(path)],
                             capture_output=True, text=True)
        return None if run.returncode == 0 else next((line for line in run.stderr.splitlines() if "error:" in line), run.stderr)


if __name__ == "__main__":
    main()
