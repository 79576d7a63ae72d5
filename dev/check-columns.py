#!/usr/bin/env python3
"""Fails if a line of prose is longer than 120 columns: in the documents, and in the comments of Swift sources.

Tables, headings, code and lines without a place to break may be longer. With --fix, the paragraphs of long lines are wrapped again.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = 120
BULLET = re.compile(r"([-*] |\d+\. )")


def wrapped(content: list[str], first: str, rest: str) -> list[str]:
    """Words in lines of at most COLUMNS, after a first and a further indentation."""
    lines, line, is_new = [], first, True
    for word in content:
        # A line that began with such a word would be a list or a heading.
        is_marker = re.fullmatch(r"[-*+>#]+|\d+[.)]", word)
        if not is_new and not is_marker and len(line) + 1 + len(word) > COLUMNS:
            lines.append(line)
            line, is_new = rest, True
        line += word if is_new else " " + word
        is_new = False
    return lines + [line]


def words(text: str) -> list[str]:
    """The words of a paragraph. The text in a code span is one word, because a line break in it would be shown."""
    return re.findall(r"(?:`[^`]*`|\S)+", text)


def broken(lines: list[str], marker: str = "") -> list[str]:
    """A block of lines with the paragraphs of long lines wrapped. Each line begins with the marker, such as '/// '."""
    result: list[str] = []
    index, code = 0, False
    while index < len(lines):
        line = lines[index]
        text = line[len(marker):] if marker else line
        if re.match(r"\s*```", text):
            code = not code
        if code or is_unbroken(text):
            result.append(line)
            index += 1
            continue
        # A paragraph: this line, and those that continue it.
        bullet = re.match(r"(\s*)" + BULLET.pattern, text)
        indentation = re.match(r"\s*", text).group(0)
        end = index + 1
        while end < len(lines):
            following = lines[end][len(marker):] if marker else lines[end]
            if is_unbroken(following) or re.match(r"\s*```", following) or re.match(r"\s*" + BULLET.pattern, following):
                break
            end += 1
        paragraph = lines[index:end]
        if any(len(part) > COLUMNS for part in paragraph):
            content = " ".join(part[len(marker):].strip() if marker else part.strip() for part in paragraph)
            following = lines[index + 1][len(marker):] if index + 1 < end else ""
            hanging = re.match(r"\s*", following).group(0) if index + 1 < end else indentation + ("  " if bullet else "")
            if bullet and len(bullet.group(2)) > 2 and index + 1 >= end:
                hanging = indentation + " " * len(bullet.group(2))
            paragraph = wrapped(words(content), marker + indentation, marker + hanging)
        result += paragraph
        index = end
    return result


def is_unbroken(text: str) -> bool:
    """Whether a line of Markdown is no prose."""
    return not text.strip() or bool(re.match(r"\s*(\||#|<|\[[^\]]+\]: |> )|(    |\t)(?![-*] |\s*\d+\. )", text)) and not re.match(r"\s+[-*] ", text)


def document(text: str) -> str:
    return "\n".join(broken(text.split("\n")))


def source(text: str) -> str:
    lines, result, index = text.split("\n"), [], 0
    while index < len(lines):
        match = re.match(r"( *///?)( |$)", lines[index])
        if not match:
            result.append(lines[index])
            index += 1
            continue
        prefix, end = match.group(1), index
        while end < len(lines) and re.match(re.escape(prefix) + r"( |$)", lines[end]):
            end += 1
        block = [line if line != prefix else prefix + " " for line in lines[index:end]]
        result += [line.rstrip() if not line.strip("/ ") else line for line in broken(block, prefix + " ")]
        index = end
    return "\n".join(result)


def prose(path: pathlib.Path, text: str) -> list[tuple[int, str]]:
    """The long lines that can be broken."""
    fixed = (document if path.suffix == ".md" else source)(text)
    if fixed == text:
        return []
    return [(number, line) for number, line in enumerate(text.split("\n"), 1) if len(line) > COLUMNS and line not in fixed.split("\n")]


def main() -> int:
    names = subprocess.run(["git", "ls-files", "-s", "*.md", "*.swift"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    # Links are checked as the file that they lead to.
    files = [ROOT / line.split("\t")[1] for line in names.splitlines() if not line.startswith("120000")]
    problems = 0
    for path in files:
        text = path.read_text()
        if "--fix" in sys.argv:
            fixed = (document if path.suffix == ".md" else source)(text)
            # A file that is written without a change is compiled again.
            if fixed != text:
                path.write_text(fixed)
            continue
        for number, _ in prose(path, text):
            problems += 1
            print(f"{path.relative_to(ROOT)}:{number} is longer than {COLUMNS} columns; wrap it with dev/check-columns.py --fix", file=sys.stderr)
    if not files:
        print("no file was found", file=sys.stderr)
        return 1
    if problems:
        return 1
    print(f"columns: prose in {len(files)} files has at most {COLUMNS}")
    return 0


sys.exit(main())
