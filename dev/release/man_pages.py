#!/usr/bin/env python3
"""Writes the man pages of a program from its own help.

    dev/release/man_pages.py PROGRAM FOLDER DATE VERSION

The program is asked with --experimental-dump-help, which every program of swift-argument-parser understands. Each command has a
page, such as assay-audit-verify(1).
"""
import json
import pathlib
import re
import subprocess
import sys


def escaped(text: str) -> str:
    """Text as roff prints it: no control lines, and plain hyphens."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def paragraphs(text: str) -> list[str]:
    """The macros of a text. Lines that are indented or aligned are printed as they are."""
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if re.search(r"(?m)^ {2,}\S", block):
            lines += [".PP", ".nf", escaped(block), ".fi"]
        else:
            lines += [".PP", escaped(" ".join(block.split()))]
    return lines


def names(argument: dict) -> str:
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}
    return ", ".join(f"\\fB{escaped(dashes[name['kind']] + name['name'])}\\fR" for name in argument.get("names", []))


def value(argument: dict) -> str:
    return "" if argument["kind"] == "flag" else f"\\fI{escaped(argument.get('valueName') or 'value')}\\fR"


def synopsis(path: list[str], arguments: list[dict]) -> str:
    parts = [f"\\fB{escaped(' '.join(path))}\\fR"]
    for argument in arguments:
        if argument["kind"] == "positional":
            part = value(argument)
        else:
            part = " ".join(part for part in (names(argument).split(", ")[0], value(argument)) if part)
        part = f"[{part}]" if argument["isOptional"] else part
        parts.append(part + ("\\&..." if argument["isRepeating"] else ""))
    return " ".join(parts)


def page(command: dict, path: list[str], date: str, version: str) -> str:
    arguments = [each for each in command.get("arguments", []) if each["shouldDisplay"]]
    commands = [each for each in command.get("subcommands", []) if each["shouldDisplay"] and each["commandName"] != "help"]
    name = "-".join(path)
    lines = [
        f'.TH {escaped(name).upper()} 1 "{date}" "assay {version}" "Assay"', ".SH NAME",
        f"{escaped(name)} \\- {escaped(command.get('abstract', '').rstrip('.'))}", ".SH SYNOPSIS",
    ]
    if arguments or not commands:
        lines.append(synopsis(path, arguments))
    if commands:
        lines += [".PP"] if arguments else []
        lines.append(f"\\fB{escaped(' '.join(path))}\\fR \\fIcommand\\fR [\\fIoption\\fR\\&...]")
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", *paragraphs(command["discussion"])]
    if arguments:
        lines.append(".SH OPTIONS")
    for argument in arguments:
        head = value(argument) if argument["kind"] == "positional" else " ".join(filter(None, (names(argument), value(argument))))
        text = " ".join(filter(None, (argument.get("abstract"), argument.get("discussion"))))
        if argument.get("defaultValue"):
            text += f" (default: {argument['defaultValue']})"
        lines += [".TP", head, escaped(" ".join(text.split())) or "\\&"]
    if commands:
        lines.append(".SH COMMANDS")
    for each in commands:
        lines += [".TP", f"\\fB{escaped('-'.join(path + [each['commandName']]))}\\fR(1)", escaped(each.get("abstract", ""))]
    if len(path) > 1:
        lines += [".SH SEE ALSO", f"\\fB{escaped('-'.join(path[:-1]))}\\fR(1)"]
    else:
        lines += [
            ".SH EXIT STATUS", ".TP", "0", "Success.", ".TP", "1", "Evidence or an action was refused, or an audit has findings.",
            ".TP", "2", "Wrong usage, or something could not be read or written.", ".TP", "3",
            "Nothing was refused, but something could not be checked now.", ".SH FILES", ".TP", "\\fIassay.yaml\\fR",
            "The settings file in the current folder, if none is named.",
        ]
    return "\n".join(lines) + "\n"


def write(command: dict, path: list[str], folder: pathlib.Path, date: str, version: str) -> int:
    (folder / f"{'-'.join(path)}.1").write_text(page(command, path, date, version))
    return 1 + sum(
        write(each, path + [each["commandName"]], folder, date, version)
        for each in command.get("subcommands", [])
        if each["shouldDisplay"] and each["commandName"] != "help")


def main() -> None:
    program, folder, date, version = sys.argv[1:]
    help_of_all = subprocess.run([program, "--experimental-dump-help"], check=True, capture_output=True).stdout
    target = pathlib.Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    command = json.loads(help_of_all)["command"]
    print(f"man pages: {write(command, [command['commandName']], target, date, version)}")


main()
