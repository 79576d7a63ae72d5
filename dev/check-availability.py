#!/usr/bin/env python3
"""Refuses API that needs a newer Apple system than the root package supports (its `platforms`: iOS 15, macOS 12).

No Apple SDK compiles the package on Linux, so there are two other ways. The sources are searched for names that are newer. And
the compiler type-checks what apps link for macOS 12, against the toolchain's own description of the standard library (its
interface file names the availability of each declaration) and against declarations of the API used from Foundation and
swift-crypto (dev/availability). Neither replaces a build on a Mac.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FLOOR = ".macOS(.v12), .iOS(.v15)"
FLOOR_MACOS = (12, 0)

# The modules that are type-checked for macOS 12.
LIBRARIES = ["PurchaseVerification", "PurchaseAPI"]

# Newer API as it appears in sources, and the system that introduced it. Types of the standard library are read from its interface
# as well.
NEWER = [
    (r"import Synchronization\b", "Synchronization needs iOS 18, macOS 15; use Locked"),
    (r"\b(Mutex|Atomic)\b", "needs iOS 18, macOS 15; use Locked"),
    (r"\b(InlineArray|UTF8Span)\b", "needs the 26 systems"),
    (r"\b(ContinuousClock|SuspendingClock|Duration|Clock)\b", "needs iOS 16, macOS 13"),
    (r"\bTask\.sleep\(for:", "needs iOS 16, macOS 13"),
    (r"\bany [A-Z]\w*<", "a parameterised existential needs iOS 16, macOS 13"),
    (r"\b(Regex|RegexBuilder)\b|\.(wholeMatch|firstMatch|prefixMatch)\(of:|=\s*/[^/ ]", "needs iOS 16, macOS 13"),
    (r"\.(replacing|trimmingPrefix|ranges)\(", "needs iOS 16, macOS 13"),
    (r"\.(appending|append)\((path|component|queryItems|components):", "needs iOS 16, macOS 13"),
    (r"\bURL\(filePath:|\.path\(percentEncoded:", "needs iOS 16, macOS 13"),
    (r"\bURL\.\w*(temporary|documents|home)Directory\b", "needs iOS 16, macOS 13"),
    (r"\bString\(validating:", "needs iOS 18, macOS 15; use Span.isUTF8"),
    (r"\b(Int128|UInt128)\b", "needs iOS 18, macOS 15"),
    (r"\.utf8\.span\b|\.utf8Span\b|\.unicodeScalars\.span\b", "needs the 26 systems"),
    (r"\bOSAllocatedUnfairLock\b", "needs iOS 16, macOS 13"),
    (r"\bISO8601FormatStyle\(.*includingFractionalSeconds|\.iso8601\w*Components", "needs iOS 18, macOS 15"),
]

# `.span` of these is back-deployed; that of Array needs the 26 systems.
SPAN = re.compile(r"(?:(\w+)|([\])]))\.(?:span|mutableSpan)\b")
SCOPE = re.compile(r"\b(func|init|subscript)\b.*[({]|\bvar \w+: [^=]*\{\s*$|\bget\b")


def back_deployed(name):
    """Text that may be on the line that declares the value whose span is taken."""
    word = re.escape(name)
    return re.compile(
        rf"\b(?:let|var) {word}(?:: [^=]+)? = .*\[[^\]]*\](?:\))?\s*$"  # a slice of an array
        rf"|\b(?:let|var) {word}(?:: [^=]+)? = .*\[\.\.\.\](?:\)|,|$)"
        rf"|\(.*\b{word}\b.*\) = \(.*\[\.\.\.\].*\)"  # slices in a tuple
        rf"|\b{word}: (?:inout )?(?:ArraySlice|ContiguousArray|UnsafeBufferPointer|UnsafeMutableBufferPointer)\b"
        rf"|\b(?:let|var) {word}\b.*\b(?:ContiguousArray|ArraySlice)\b"
    )


def compiled_on_apple(text):
    """The lines that Apple's systems compile, without comments and texts; the others are left empty."""
    text = re.sub(r'"""[\s\S]*?"""', lambda m: "\n" * m.group().count("\n"), text)
    text = re.sub(r"/\*[\s\S]*?\*/", lambda m: "\n" * m.group().count("\n"), text)
    text = re.sub(r'#"(?:[^"]|"(?!#))*"#|"(?:\\.|[^"\\\n])*"', '""', text)
    lines, branches = [], []
    for line in text.split("\n"):
        line = re.sub(r"//.*", "", line)
        word = line.strip()
        if word.startswith("#if"):
            apple = True
            if re.fullmatch(r"#if (os\(Linux\)|!canImport\(Darwin\))", word):
                apple = False
            branches.append([apple, re.fullmatch(r"#if (canImport\(Darwin\)|os\((macOS|iOS)\))", word) is not None])
            line = ""
        elif word.startswith("#else") and branches:
            apple, only = branches[-1]
            branches[-1] = [not only, only] if apple else [True, False]
            line = ""
        elif word.startswith("#endif") and branches:
            branches.pop()
            line = ""
        lines.append(line if all(branch[0] for branch in branches) else "")
    return lines


def problems(path, text, types):
    lines = compiled_on_apple(text)
    for number, line in enumerate(lines):
        for pattern, reason in NEWER:
            if re.search(pattern, line):
                yield f"{path}:{number + 1}: {line.strip()}: {reason}"
        for name in re.findall(r"\b[A-Z]\w+\b", line):
            if name in types:
                yield f"{path}:{number + 1}: {name} needs macOS {types[name]}"
        for match in SPAN.finditer(line):
            name = match.group(1)
            if name and any(back_deployed(name).search(other) for other in scope(lines, number)):
                continue
            if any(re.search(rf"static let {name}: ContiguousArray\b", other) for other in lines):
                continue
            if re.search(r"buffer\.extracting\([^)]*\)\.mutableSpan", line):
                continue
            yield f"{path}:{number + 1}: {line.strip()}: Array.span needs the 26 systems; take the span of a slice in a constant"


def scope(lines, number):
    """The lines from the one with the function's name to this one."""
    for other in range(number, -1, -1):
        yield lines[other]
        if other < number and SCOPE.search(lines[other]):
            # A signature of several lines.
            yield from lines[max(0, other - 3) : other]
            return


def interfaces():
    swift = shutil.which("swiftc")
    if not swift:
        return []
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(swift))), "lib")
    found = []
    for module in ["Swift", "_Concurrency", "_StringProcessing", "Synchronization"]:
        files = sorted(glob.glob(f"{folder}/**/{module}.swiftmodule/*.swiftinterface", recursive=True))
        found += [file for file in files if "private" not in file][:1]
    return found


def newer_types(files):
    """The types that the interfaces say are newer than the floor, with the version."""
    types = {}
    for file in files:
        version = None
        for line in open(file, encoding="utf-8", errors="replace"):
            available = re.match(r"@available\(macOS (\d+)(?:\.(\d+))?", line)
            if available:
                version = (int(available.group(1)), int(available.group(2) or 0))
                continue
            if line.startswith("#") or line.startswith("@") and " struct " not in line and " enum " not in line:
                continue
            declared = re.match(r"(?:@\w+(?:\([^)]*\))? )*public (?:indirect )?(?:struct|enum|protocol|actor|final class|class) (\w+)", line)
            if declared and version and version > FLOOR_MACOS:
                types[declared.group(1)] = ".".join(map(str, version))
            if not line.startswith(" "):
                version = None
    return types


def self_test(types):
    """Tests the check: it must find newer API, and must accept permitted API."""
    bad = [
        "let lock = Mutex(0)", "import Synchronization", "func f(_ a: [UInt8]) {\n    g(a.span)\n}",
        "func f() {\n    let a = Array(text)\n    g(a.span)\n}", "var x: any Policy<Int>", "folder.appending(path: name)",
        "let d: Duration = x", "#if canImport(Darwin)\nlet m = Mutex(1)\n#endif", "f(Array(t.utf8).span)",
        "if String(validating: b, as: UTF8.self) != nil {}", "let t = text.replacing(a, with: b)",
    ]
    good = [
        "func f(_ a: [UInt8]) {\n    let b = a[...]\n    g(b.span)\n}", "func f(_ a: ArraySlice<UInt8>) { g(a.span) }",
        "// Mutex\nlet text = \"Mutex\"", "#if canImport(Darwin)\n#else\nimport Synchronization\n#endif",
        "func f() {\n    let b = a[range]\n    g(b.span)\n}", "folder.appendingPathComponent(name)",
    ]
    missed = [text for text in bad if not list(problems("test", text, types))]
    refused = [text for text in good if list(problems("test", text, types))]
    return missed + refused


class Compiler:
    """The toolchain's compiler, configured for macOS 12."""

    def __init__(self, folder, interface):
        tools = os.path.dirname(os.path.realpath(shutil.which("swiftc")))
        resources = os.path.join(os.path.dirname(tools), "lib", "swift")
        swift = f"{folder}/resources/macosx/Swift.swiftmodule"
        os.makedirs(swift)
        os.makedirs(f"{folder}/sdk")
        for name in ["shims", "clang"]:
            os.symlink(f"{resources}/{name}", f"{folder}/resources/{name}")
        target = "x86_64-apple-macosx12.0"
        with open(interface, encoding="utf-8") as source, open(f"{swift}/x86_64-apple-macos.swiftinterface", "w") as copy:
            for line in source:
                if "@backDeployed(before" in line:
                    continue  # It demands a body, which the interface for Linux leaves out; what counts is @available.
                if line.startswith("// swift-module-flags:"):
                    line = re.sub(r"-target \S+", f"-target {target} -disable-objc-interop", line)
                copy.write(line)
        self.folder = folder
        self.command = [
            f"{tools}/swift-frontend", "-target", target, "-resource-dir", f"{folder}/resources", "-sdk", f"{folder}/sdk",
            "-module-cache-path", f"{folder}/cache", "-I", folder, "-O", "-disable-objc-interop", "-swift-version", "6",
            "-enable-upcoming-feature", "InternalImportsByDefault", "-disable-implicit-concurrency-module-import",
            "-disable-implicit-string-processing-module-import",
        ]  # fmt: skip

    def errors(self, *arguments):
        result = subprocess.run(self.command + list(arguments), capture_output=True, text=True, timeout=300)
        lines = [line for line in result.stderr.split("\n") if re.match(r"\S.*: error: ", line)]
        return lines if result.returncode == 0 or lines else [result.stderr[-2000:] or "the compiler failed"]

    def module(self, name):
        source = f"{ROOT}/dev/availability/{name}.swift"
        return self.errors("-emit-module", "-module-name", name, "-o", f"{self.folder}/{name}.swiftmodule",
                           "-parse-as-library", source)

    def sources(self, module):
        files = sorted(glob.glob(f"{ROOT}/Sources/{module}/**/*.swift", recursive=True))
        if not files:
            return [f"Sources/{module} has no files"]
        return self.errors("-typecheck", "-package-name", "assay", "-module-name", module, *files)


def compiled(interface):
    """The errors of the compiler in the libraries, for macOS 12."""
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(folder, interface)
        probe = f"{folder}/probe.swift"
        for text, expected in [("func f(_ a: [UInt8]) -> Int { a.span.count }", "only available in macOS 26.0"),
                               ("func f(_ a: [UInt8]) -> Int { let b = a[...]; return b.span.count }", None)]:
            with open(probe, "w", encoding="utf-8") as file:
                file.write(text)
            found = compiler.errors("-typecheck", probe)
            if (expected or "") not in "".join(found) or (found and not expected):
                sys.exit(f"the compiler could not be made to judge availability: {found}")
        found = []
        for name in ["CBase64", "Darwin", "Foundation", "Crypto", "CryptoExtras"]:
            found += compiler.module(name)
        for name in LIBRARIES:
            found += compiler.sources(name)
        return found


def main():
    interface_files = interfaces()
    types = newer_types(interface_files)
    wrong = self_test(types)
    if wrong:
        sys.exit(f"the check itself is wrong about: {wrong}")
    if interface_files and not {"InlineArray", "UTF8Span"} <= set(types):
        sys.exit("the interfaces of the standard library were read, but not understood")
    if FLOOR not in open(f"{ROOT}/Package.swift", encoding="utf-8").read():
        sys.exit(f"Package.swift no longer says {FLOOR}; this check was written for that floor")
    files = sorted(glob.glob(f"{ROOT}/Sources/**/*.swift", recursive=True) + glob.glob(f"{ROOT}/Tests/**/*.swift", recursive=True))
    if len(files) < 50:
        sys.exit(f"only {len(files)} files were found, so nothing was checked")
    found = []
    for file in files:
        with open(file, encoding="utf-8") as source:
            found += problems(os.path.relpath(file, ROOT), source.read(), types)
    checked = "nothing was type-checked, since this is not the toolchain for Linux"
    if interface_files and sys.platform == "linux" and not found:
        found += compiled(interface_files[0])
        checked = f"the compiler finds no newer declaration in {' and '.join(LIBRARIES)}"
    for line in found:
        print(line)
    if found:
        sys.exit(1)
    read = f"{len(types)} newer types from {len(interface_files)} interface files" if interface_files else "no interface files found"
    print(f"availability: {len(files)} files name nothing newer than iOS 15 and macOS 12 ({read}); {checked}.")
    print("availability: no Apple SDK compiled them here.")


if __name__ == "__main__":
    main()
