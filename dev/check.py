#!/usr/bin/env python3
"""Reads each file of the repository once, and checks all of them by rules.

    dev/check.py [RULE…]            the rules that are named, or all but samples
    dev/check.py samples PROGRAM    commands, options and blocks of code in the documents, against a built assay
    dev/check.py --fix              wraps the paragraphs of long lines again
    dev/check.py --self-test        breaks each rule, and expects that it is found

A rule is a function of the files, which gives the problems and one sentence about what was checked.
"""
import collections
import functools
import hashlib
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "dev/availability"))
COLUMNS = 120
ACCESS = "(?:public|package|internal|fileprivate|private)"
TYPES = "struct|enum|class|protocol|actor|typealias"

# The order of the folders of a module: one may use what is declared in itself and in those before it. "." are the files beside them.
ORDER = {
    "PurchaseVerification": "Terms Bytes ASN1 Platform Certificates CMS AppReceipt TransactionReceipt JWS Evidence Policies . Inspection",
    "PurchaseMessages": ". Signatures",
    "PurchaseAPI": "JSON . VerifyReceipt Requests Purchases",
    "PurchaseKit": "Terms Products Outside Record Server Events Device Engine Screen",
    "EvidenceMint": "Encoding Authority Receipt SignedPayload TransactionReceipt Faults Signing",
    "LedgerRules": "Terms Observe Own Entitle Receipt Claim Order Refund Offer Tell Compare State",
    "PurchaseLedger": "Store Terms Tables Record Schema Loading Applying Operations Audit Copy",
    "AppStoreConnection": ". ServerAPI",
    "PurchaseServer": "Answers Configuration Metrics HTTP Record Webhooks VerifyReceipt AppStore Purchases Notifications .",
    "AppStoreSimulator": "Store Evidence Requests Storage ServerAPI Service VerifyReceipt ServerAPIAnswers Attacks Notifications Scenario Server",
    "assay": "Terminal Input Output Importing Doctor Commands .",
} | dict.fromkeys("TextFormats PurchaseKitSimulator HTTPConnections PurchaseConsole".split(), ".")
# Code for one engine stays in its driver.
ENGINES = {"GRDB": "Store/SQLite/", "CPostgreSQL": "Store/PostgreSQL/"}

# Newer API than the root package's floor, as it appears in sources, and what has it. The compiler finds all of it in what it can
# type-check here (the rule compiled); these names are for the rest, and for a toolchain without the interface of its library.
FLOOR = ".iOS(.v15), .macOS(.v12), .macCatalyst(.v15), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)"
NEWER = [(re.compile(pattern), needs) for pattern, needs in [
    (r"import Synchronization\b|\b(Mutex|Atomic)\b", "iOS 18, macOS 15; use Locked"),
    (r"\b(InlineArray|UTF8Span)\b|\.utf8\.span\b|\.utf8Span\b|\.unicodeScalars\.span\b", "the 26 systems"),
    (r"\b(ContinuousClock|SuspendingClock|Duration|Clock)\b|\bTask\.sleep\(for:|\bany [A-Z]\w*<", "iOS 16, macOS 13"),
    (r"\b(Regex|RegexBuilder)\b|\.(wholeMatch|firstMatch|prefixMatch)\(of:|=\s*/[^/ ]", "iOS 16, macOS 13"),
    (r"\.(replacing|trimmingPrefix|ranges)\(|\bOSAllocatedUnfairLock\b|\bURL\.\w*(temporary|documents|home)Directory\b", "iOS 16, macOS 13"),
    (r"\.(appending|append)\((path|component|queryItems|components):|\bURL\(filePath:|\.path\(percentEncoded:", "iOS 16, macOS 13"),
    (r"\bString\(validating:|\bU?Int128\b|\bISO8601FormatStyle\(.*includingFractionalSeconds|\.iso8601\w*Components", "iOS 18, macOS 15"),
]]

# Build products; the compiler can leave them in the folder in which it was called.
BUILT = re.compile(
    r"(^|/)(\.build[^/]*/|\.swiftpm/|Package\.resolved$)|\.(dia|swiftmodule|swiftdoc|swiftsourceinfo|swiftdeps|o)$|^[^/]*\.h$")
CORPUS = ROOT / os.environ.get("ASSAY_CORPUS", "../shared/corpus")


class Files(dict):
    """The files that git has or would add: names and bytes. A symbolic link has no bytes."""

    @classmethod
    def read(cls):
        listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True).stdout
        paths = [ROOT / os.fsdecode(name) for name in listed.split(b"\0") if name]
        return cls((str(path.relative_to(ROOT)), b"" if path.is_symlink() else path.read_bytes()) for path in paths if path.is_file())

    def texts(self, suffixes, *folders):
        """The names and texts of files with one of the suffixes, below one of the folders."""
        return ((name, content.decode()) for name, content in self.items()
                if name.endswith(suffixes) and (not folders or name.startswith(folders)))

    @functools.cached_property
    def folders(self):
        return {str(parent) for name in self for parent in pathlib.PurePosixPath(name).parents}


def without_literals(text):
    """Swift without comments and texts, which name things without using them."""
    return re.sub(r'"""(?:.|\n)*?"""|/\*(?:.|\n)*?\*/|#"(?:[^"]|"(?!#))*"#|"(?:\\.|[^"\\\n])*"|//[^\n]*',
                  lambda match: '""' + "\n" * match.group().count("\n"), text)


# MARK: prose

def rewrapped(lines, marker=""):
    """Lines of Markdown, each after a marker such as '/// ', with the paragraphs of long lines wrapped again."""
    paragraphs, is_code, is_open = [], False, False
    for line in lines:
        text = line[len(marker):]
        is_fence = bool(re.match(r"\s*```", text))
        is_code ^= is_fence
        is_prose = text.strip() and not is_code and not is_fence and (re.match(r"\s+[-*] ", text) or not re.match(
            r"\s*(\||#|<|\[[^\]]+\]: |> )|(    |\t)(?![-*] |\s*\d+\. )", text))
        if is_open and is_prose and not re.match(r"\s*([-*] |\d+\. )", text):
            paragraphs[-1][1].append(line)
        else:
            paragraphs.append((is_prose, [line]))
        is_open = is_prose
    return [line for is_prose, each in paragraphs for line in (
        wrapped_paragraph([line[len(marker):] for line in each], marker) if is_prose and max(map(len, each)) > COLUMNS else each)]


def wrapped_paragraph(texts, marker):
    indentation, bullet = re.match(r"(\s*)([-*] |\d+\. )?", texts[0]).groups()
    rest = re.match(r"\s*", texts[1]).group() if len(texts) > 1 else indentation + " " * len(bullet or "")
    # A line break in a code span would be shown, and a line that began with such a word would be a list or a heading.
    content = re.sub(r"`[^`]*`", lambda span: span.group().replace(" ", "\0"), " ".join(text.strip() for text in texts))
    content = re.sub(r" (?=([-*+>#]+|\d+[.)])(?: |$))", "\0", content)
    lines = textwrap.wrap(content, COLUMNS, initial_indent=marker + indentation, subsequent_indent=marker + rest,
                          break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


@functools.cache
def wrapped(name, text):
    """A document, or a Swift source with its comments, with at most COLUMNS in lines of prose that can be broken."""
    if len(max(text.split("\n"), key=len)) <= COLUMNS:
        return text
    if name.endswith(".md"):
        return "\n".join(rewrapped(text.split("\n")))
    blocks = itertools.groupby(text.split("\n"), lambda line: (re.match(r" *///?(?= |$)", line) or [None])[0])
    return "\n".join(line for prefix, lines in blocks for line in (rewrapped(lines, prefix + " ") if prefix else lines))


def columns(files):
    texts = list(files.texts((".md", ".swift")))
    found = [f"{name}:{number} is longer than {COLUMNS} columns; wrap it with dev/check.py --fix" for name, text in texts
             for number, line in enumerate(text.split("\n"), 1) if len(line) > COLUMNS and line not in wrapped(name, text).split("\n")]
    return found, f"prose in {len(texts)} files has at most {COLUMNS}"


# MARK: what is committed

def committed(files):
    found = [f"{name} is made by a build; do not commit it" for name in files if BUILT.search(name)]
    if not CORPUS.exists():
        return found, f"{len(files)} files, not compared with the corpus, which is not here"
    # Apple publishes its root certificates; they may be committed.
    items = json.loads((CORPUS / "MANIFEST.json").read_text())["items"]
    private = {item["sha256"]: item["file"] for item in items if item["kind"] != "certificate-root"}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    found += [f"{name} is {private[digest]} of the corpus; do not commit it" for name, digest in digests.items() if digest in private]
    return found + [] if private else ["the corpus lists no file"], f"{len(files)} files, none of {len(private)} in the corpus"


# MARK: modules

def modules(files):
    """The folder of each module, and the modules that it may import, by the tables of CONTRIBUTING.md."""
    text = files["CONTRIBUTING.md"].decode()
    http = re.search(r"^¹ ((?:.+\n)+)", text, re.M).group(1)
    for names, cell in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|.*\|([^|\n]*)\|$", text, re.M):
        for name in re.findall(r"\w+", names):
            places = [f"{part}/{name}" for part in ("Sources", "Server/Sources", "Tests", "Server/Tests")]
            yield next((place for place in places if place in files.folders), name), set(re.findall(r"\w+", cell + http * ("¹" in cell)))


def imports(files):
    found, count = [], 0
    pattern = re.compile(rf"^ *(?:@[\w()]+ +)*(?:{ACCESS} +)?import +(?:(?:{TYPES}|func|let|var) +)?(\w+)", re.M)
    table = dict(modules(files))
    for module, allowed in table.items():
        if module not in files.folders:
            found.append(f"{module} is in the table of CONTRIBUTING.md, and does not exist")
        for name, text in files.texts(".swift", module + "/"):
            count += 1
            for imported in pattern.findall(text):
                if imported not in allowed:
                    found.append(f"{name} imports {imported}, which {module} may not; see the table in CONTRIBUTING.md")
                if module.endswith("/PurchaseLedger") and not name.startswith(f"{module}/{ENGINES.get(imported, '')}"):
                    found.append(f"{name} imports {imported}, which only {ENGINES[imported]} may")
    found += [f"{folder} is not in the table of CONTRIBUTING.md" for folder in files.folders
              if re.fullmatch(r"(Server/)?Sources/[^/]+", folder) and folder not in table]
    return found, f"{count} files, all as the table allows"


TYPE = re.compile(rf"^((?:@\w+(?:\([^)]*\))?\s+|(?:{ACCESS}|indirect|final|nonisolated) )*)(?:{TYPES}) (\w+)", re.M)
MEMBER = re.compile(r"^    ((?:\w+ )*)(?:var|let|func) (\w+)", re.M)
EXTENSION = re.compile(r"^((?:\w+ )*)extension [^{]*\{(.*?)^\}", re.M | re.S)


def folders(files):
    """The folders of a module cannot import each other, so their order is checked by the names of types, and of members of extensions."""
    found, count = [], 0
    for module, _ in modules(files):
        if not (order := ORDER.get(module.rpartition("/")[2], "").split()):
            continue
        sources = [(name, name[len(module) + 1:].rpartition("/")[0].split("/")[0] or ".", without_literals(text))
                   for name, text in files.texts(".swift", module + "/")]
        types, members = {}, {}
        for name, place, source in sources:
            count += 1
            if place not in order:
                found.append(f"{name} lies outside of the folders {', '.join(order)}")
            # A member of a type is found by its type; one of an extension may be in a folder after that of its type.
            extended = "".join(body for access, body in EXTENSION.findall(source) if "private" not in access)
            for names, declared in ((types, TYPE.findall(source)), (members, MEMBER.findall(extended))):
                for access, declaration in declared:
                    if "private" not in access:
                        names.setdefault(declaration, set()).add(place)
        for name, place, source in sources:
            # A name that something else has as well may be that of the other.
            cases = " ".join(re.findall(r"^ *(?:indirect )?case (\w+[^:{\n]*)$", source, re.M))
            for other in re.findall(r"\b(?:var|let|func) (\w+)", EXTENSION.sub(" ", source)) + re.findall(r"\w+", cases):
                members.pop(other, None)
            for other in re.findall(rf"^ +(?:\w+ )*(?:{TYPES}) (\w+)", source, re.M):
                types.get(other, set()).add(place)
        for name, place, source in sources:
            before = order[:order.index(place) + 1] if place in order else order
            used = [(each, types.get(each)) for each in set(re.findall(r"\b[A-Z]\w+\b", source))]
            used += [(each, members.get(each)) for each in set(re.findall(r"\.(\w+)\b", source))]
            found += [f"{name} uses {each} of {', '.join(sorted(owners))}, which comes after {place}"
                      for each, owners in sorted(used, key=lambda pair: pair[0]) if owners and owners <= set(order) - set(before)]
    return found, f"{count} files, each in the order of the folders of its module"


# MARK: availability

def availability(files):
    found, count = [], 0
    if FLOOR not in files["Package.swift"].decode():
        found.append(f"Package.swift no longer says {FLOOR}; this rule was written for that floor")
    import compiler
    types = compiler.newer_types()
    compiled_folders = tuple(f"Sources/{module}/" for module in compiler.LIBRARIES)
    for name, text in files.texts(".swift", "Sources/", "Tests/"):
        count, is_compiled = count + 1, name.startswith(compiled_folders)
        for number, line in enumerate(lines_for_apple(text), 1):
            needs = [needs for pattern, needs in NEWER if pattern.search(line)]
            needs += [f"macOS {types[each]}" for each in re.findall(r"\b[A-Z]\w+\b", line) if each in types]
            # That of Array needs the 26 systems, that of a slice is back-deployed; only the compiler knows which it is.
            needs += ["the 26 systems, if it is an array's"] if not is_compiled and re.search(r"\.(mutableS|s)pan\b", line) else []
            found += [f"{name}:{number}: {line.strip()}: needs {each}" for each in needs[:1]]
    return found, f"{count} files name nothing newer than iOS 15 and macOS 12 ({len(types)} newer types in the toolchain's interfaces)"


def lines_for_apple(text):
    """The lines that Apple's systems compile; the others are left empty."""
    branches = []
    for line in without_literals(text).split("\n"):
        word = line.strip()
        if word.startswith("#if"):
            # Whether the branch is Apple's, and whether the one after #else is.
            apple = not re.fullmatch(r"#if (os\(Linux\)|!canImport\(Darwin\))", word)
            branches.append((apple, not apple or not re.fullmatch(r"#if (canImport\(Darwin\)|os\((macOS|iOS)\))", word)))
        elif word.startswith("#else") and branches:
            branches[-1] = (branches[-1][1], True)
        elif word.startswith("#endif") and branches:
            branches.pop()
        yield "" if word.startswith("#") or not all(apple for apple, _ in branches) else line


def compiled(files):
    import compiler
    return compiler.check()


# MARK: documents

LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()]*\))?)\)")


def slug(heading):
    """The anchor that GitHub gives a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def prose(text):
    """A document with the code in blocks and in lines left out, and its headings."""
    text = re.sub(r"^ *(```|~~~)(?:.|\n)*?^ *\1.*$|^    .*$", lambda block: "\n" * block.group().count("\n"), text, flags=re.M)
    names = [slug(heading) for heading in re.findall(r"^#{1,6} +(.*?)#*$", text, re.M)]
    # The second of two equal headings has a number.
    headings = {f"{name}-{names[:place].count(name)}" if name in names[:place] else name for place, name in enumerate(names)}
    return re.sub(r"`[^`\n]*`", "", text), headings


def links(files):
    """Each file and heading that a link names exists, each test that is named as in "Its name" (`SomeTests`), and docs/README.md
    leads to every document."""
    found, count, named, reached, tests = [], 0, 0, set(), collections.defaultdict(str)
    documents = {name: prose(text) for name, text in files.texts(".md")}
    for name, text in files.texts("Tests.swift", "Tests/", "Server/Tests/"):
        tests[pathlib.PurePosixPath(name).stem] += text
    for name, (text, _) in documents.items():
        for test, suite in re.findall(r'"([^"]+)" \(`(\w+Tests)`', files[name].decode()):
            named, test = named + 1, " ".join(test.split())
            if f'"{test.rstrip("…").strip()}' not in tests[suite]:
                found.append(f'{name}: {suite} has no test "{test}"')
        for link in LINK.finditer(text):
            target, place = link.group(1), f"{name}:{text.count(chr(10), 0, link.start()) + 1}: {link.group(1)}"
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            file, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(name), file)) if file else name
            if name == "docs/README.md":
                reached.add(path)
            if path not in files and path not in files.folders:
                found.append(f"{place}: there is no such file")
            elif anchor and path.endswith(".md") and anchor not in documents[path][1]:
                found.append(f"{place}: there is no such heading")
    found += [f"docs/README.md has no link to {name}, so no reader finds it" for name in documents
              if re.fullmatch(r"docs/(?!README)[^/]+\.md", name) and name not in reached]
    return found, f"{count} in {len(documents)} documents lead to files and headings that exist; {named} tests that they name exist"


# MARK: samples

def samples(files, program):
    """Every command and option of assay that a document names is in its help; blocks of JSON and Python parse, the program accepts
    settings, and Swift that imports our modules compiles against those beside the program."""
    found, commands, blocks, program = [], 0, 0, os.path.abspath(program)
    checks = {"json": ("", lambda _, block: json.loads(block) and None), "python": ("", lambda _, block: compile(block, name, "exec") and None),
              "yaml": (r"^(apps|server|limits|record):", settings_fault),
              "swift": (r"^import (PurchaseVerification|PurchaseKit|EvidenceMint)", swift_fault)}
    for name, text in files.texts(".md"):
        if name in ("CHANGELOG.md", "docs/decisions.md"):
            # They also name what is gone.
            continue
        for match in re.finditer(r"(?:^|[\s`(|;&$'\"/])assay ((?:[a-z]|--)[^\n]*(?:\\\n[^\n]*)*)", text):
            words = re.split(r"[|;&)<>`'\"]| #|\$ ", match.group(1).replace("\\\n", " "))[0].split()
            commands += 1
            if fault := command_fault(program, words):
                found.append(f"{name}:{text.count(chr(10), 0, match.start(1)) + 1}: {fault}")
        for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
            pattern, fault_of = checks.get(language, ("(?!)", None))
            if re.search(pattern, block, re.M):
                blocks += 1
                try:
                    fault = fault_of(program, block)
                except (ValueError, SyntaxError) as error:
                    fault = str(error)
                found += [f"{name}: a block of {language} is refused: {fault}"] * bool(fault)
    if commands < 50 or blocks < 3:
        found.append(f"{commands} commands and {blocks} samples were found, so hardly anything was checked")
    return found, f"{commands} commands have the options that they name; {blocks} blocks parse"


@functools.cache
def help_of(program, command):
    run = subprocess.run([program, *command, "--help"], capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else ""


def command_fault(program, words):
    command, rest = (), list(words)
    while rest and rest[0] in (known := re.findall(r"^  ([a-z-]+)", help_of(program, command).partition("SUBCOMMANDS:")[2], re.M)):
        command += (rest.pop(0),)
    if default := re.search(r"^  ([a-z-]+) \(default\)", help_of(program, command), re.M):
        command, known = command + (default.group(1),), []
    # Prose about the program names no option.
    if not command:
        return f"there is no command 'assay {words[0]}'" if words[0][0] != "-" and len(words) > 1 and words[1][0] == "-" else None
    if rest and known and re.fullmatch(r"[a-z][a-z-]+", rest[0]):
        return f"there is no command 'assay {' '.join(command)} {rest[0]}'"
    for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", " ".join(rest)):
        if option != "--help" and not re.search(rf"(?<![\w-]){option}(?![\w-])", help_of(program, command)):
            return f"'assay {' '.join(command)}' has no option {option}"


def settings_fault(program, block):
    """What the program says about settings, without the files that they name: those are the reader's."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "assay.yaml").write_text(block)
        run = subprocess.run([program, "list", "keys", "--config", "assay.yaml", "--database", "sqlite:none"], cwd=folder,
                             capture_output=True, text=True)
        return None if "there is no such database" in run.stderr else run.stderr.strip()


def swift_fault(program, block):
    """What the compiler says about a block, with the names that the text around it introduces."""
    if "import PurchaseKitStoreKit" in block and sys.platform != "darwin":
        return print("samples: a block for Apple's platforms is not compiled here")
    lines = sorted(block.splitlines(), key=lambda line: not line.startswith("import "))
    first = sum(line.startswith("import ") for line in lines)
    source = ["import Foundation", *lines[:first], "func sample(bytes: [UInt8], folder: URL) async throws {", *lines[first:], "}"]
    # The core's one module in C.
    built = pathlib.Path(program).parent
    maps = [part for map in built.glob("CBase64.build/module.modulemap") for part in ("-Xcc", f"-fmodule-map-file={map}")]
    command = ["swiftc", "-typecheck", "-swift-version", "6", "-I", built / "Modules", *maps, "-"]
    run = subprocess.run(command, input="\n".join(source), capture_output=True, text=True)
    return None if run.returncode == 0 else next((line for line in run.stderr.splitlines() if "error:" in line), run.stderr)


# MARK: the rules themselves

RULES = {rule.__name__: rule for rule in (columns, committed, imports, folders, availability, compiled, links)}
# A rule, a file, what is put at its end, and whether the rule must find it.
FAULTS = [
    ("columns", "README.md", "word " * 30, True),
    ("columns", "README.md", "| word " * 30, False),
    ("columns", "Sources/PurchaseKit/Terms/Probe.swift", "/// " + "word " * 30, True),
    ("committed", "Package.resolved", "{}", True),
    ("imports", "Sources/PurchaseKit/Terms/Probe.swift", "public import NIOCore", True),
    ("imports", "Server/Sources/PurchaseLedger/Terms/Probe.swift", "import GRDB", True),
    ("imports", "Sources/Probe/Probe.swift", "", True),
    ("folders", "Sources/PurchaseKit/Terms/Probe.swift", "let engine: PurchaseEngine", True),
    ("folders", "Sources/PurchaseKit/Screen/Probe.swift", "let engine: PurchaseEngine", False),
    ("folders", "Sources/PurchaseKit/Elsewhere/Probe.swift", "struct Probe {}", True),
    ("availability", "Sources/EvidenceMint/Probe.swift", "let lock = Mutex(0)", True),
    ("availability", "Sources/EvidenceMint/Probe.swift", "f(array.span)", True),
    ("availability", "Sources/EvidenceMint/Probe.swift", "#if canImport(Darwin)\n#else\nimport Synchronization\n#endif", False),
    ("availability", "Sources/EvidenceMint/Probe.swift", '// Mutex\nlet text = "Mutex"', False),
    ("links", "README.md", "[a](docs/nowhere.md)", True),
    ("links", "README.md", "[a](docs/README.md#nowhere)", True),
    ("links", "README.md", '"Nobody wrote it" (`LedgerTests`)', True),
    ("links", "docs/probe.md", "# A document that nobody finds", True),
    ("links", "README.md", "`[a](docs/nowhere.md)`", False),
]


def self_test(files):
    for name, path, text, is_fault in FAULTS:
        broken = Files(files | {path: files.get(path, b"") + b"\n" + text.encode() + b"\n"})
        problems = [each for each in RULES[name](broken)[0] if path in each or (os.path.dirname(path) or path) in each]
        if bool(problems) != is_fault:
            yield f"the rule {name} {'does not find' if is_fault else 'wrongly finds'} in {path}: {text} {problems}"


def main():
    words, files, found = sys.argv[1:], Files.read(), []
    if "--fix" in words:
        # A file that is written without a change is compiled again.
        for name in (name for name, text in files.texts((".md", ".swift")) if wrapped(name, text) != text):
            (ROOT / name).write_text(wrapped(name, files[name].decode()))
    elif "--self-test" in words:
        found = list(self_test(files))
        print(f"self-test: {len(FAULTS)} cases")
    elif words[:1] == ["samples"]:
        found, checked = samples(files, words[1])
        print(f"samples: {checked}")
    else:
        for name in words or RULES:
            problems, checked = RULES[name](files)
            found += problems
            print(f"{name}: {checked}" if not problems else f"{name}: {len(problems)} problems")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
