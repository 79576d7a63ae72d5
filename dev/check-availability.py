#!/usr/bin/env python3
"""Refuses API that needs a newer Apple system than the root package supports (its `platforms`).

No Apple SDK compiles the package on Linux, so there are two other ways. The sources are searched for names that are newer. And
the compiler type-checks what apps link for each of Apple's systems, against the toolchain's own description of the standard library
(its interface file names the availability of each declaration) and against declarations of the API used from Apple's frameworks
(dev/availability). Neither replaces a build with Xcode. The first run takes minutes, because it compiles the standard library for
each system; later runs use it from .build.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FLOOR = ".iOS(.v15), .macOS(.v12), .macCatalyst(.v15), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)"
FLOOR_MACOS = (12, 0)

# The modules that are type-checked, each after those that it imports.
LIBRARIES = ["PurchaseVerification", "PurchaseMessages", "PurchaseKit", "PurchaseKitStoreKit", "PurchaseKitSimulator"]

# Programs of the documents that use the libraries.
EXAMPLES = ["StoreKit2App", "ProScreen", "OriginalAPIApp", "PurchaseActionQueue"]

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


# The systems of the root package: target, name of the SDK, name of the interface, and the modules that an app of it can import.
COMMON = ["Darwin", "Foundation", "Security", "CryptoKit", "Network", "os", "Combine", "SwiftUI"]
PLATFORMS = {
    "macOS 12": ("x86_64-apple-macosx12.0", "macosx", "x86_64-apple-macos", COMMON + ["IOKit", "AppKit", "StoreKit"]),
    "iOS 15": ("x86_64-apple-ios15.0-simulator", "iphonesimulator", "x86_64-apple-ios-simulator", COMMON + ["UIKit", "StoreKit"]),
    "tvOS 15": ("x86_64-apple-tvos15.0-simulator", "appletvsimulator", "x86_64-apple-tvos-simulator", COMMON + ["UIKit", "StoreKit"]),
    "watchOS 8": ("x86_64-apple-watchos8.0-simulator", "watchsimulator", "x86_64-apple-watchos-simulator", COMMON + ["WatchKit", "StoreKit"]),
    "visionOS 1": ("x86_64-apple-xros1.0-simulator", "xrsimulator", "x86_64-apple-xros-simulator", COMMON + ["UIKit", "StoreKit"]),
    "Catalyst 15": ("x86_64-apple-ios15.0-macabi", "maccatalyst", "x86_64-apple-ios-macabi", COMMON + ["IOKit", "UIKit", "StoreKit"]),
}


def vision(match):
    """An availability of iOS as that of visionOS, which Apple's SDK maps by a table."""
    version = int(match.group(1))
    return "visionOS " + ("1.0" if version < 18 else "2.0" if version == 18 else f"{version}.0")


class Compiler:
    """The toolchain's compiler, configured for one of Apple's systems.

    Its standard library is made once per system from the interface for Linux, which names the availability of each declaration, and
    kept in .build.
    """

    def __init__(self, folder, platform, interface_files):
        target, sdk, name, self.modules = PLATFORMS[platform]
        tools = os.path.dirname(os.path.realpath(shutil.which("swiftc")))
        resources = os.path.join(os.path.dirname(tools), "lib", "swift")
        self.folder = f"{folder}/{sdk}"
        os.makedirs(f"{self.folder}/sdk", exist_ok=True)
        os.makedirs(f"{self.folder}/resources", exist_ok=True)
        for part in ["shims", "clang"]:
            link = f"{self.folder}/resources/{part}"
            if not os.path.islink(link):
                os.symlink(f"{resources}/{part}", link)
        for interface in interface_files:
            module = os.path.basename(os.path.dirname(interface))
            if module not in ("Swift.swiftmodule", "_Concurrency.swiftmodule"):
                continue
            place = f"{self.folder}/resources/{sdk}/{module}"
            os.makedirs(place, exist_ok=True)
            text = self.adapted(interface, target, module)
            path = f"{place}/{name}.swiftinterface"
            # A newer file would be compiled again.
            if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
                with open(path, "w", encoding="utf-8") as copy:
                    copy.write(text)
        self.built = tempfile.mkdtemp(dir=self.folder)
        self.command = [
            f"{tools}/swift-frontend", "-target", target, "-resource-dir", f"{self.folder}/resources", "-sdk", f"{self.folder}/sdk",
            "-module-cache-path", f"{self.folder}/cache", "-I", self.built, "-O", "-disable-objc-interop", "-swift-version", "6",
            "-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature", "MemberImportVisibility",
            "-enable-upcoming-feature", "ExistentialAny", "-disable-implicit-string-processing-module-import",
        ]  # fmt: skip

    @staticmethod
    def adapted(interface, target, module):
        lines = []
        for line in open(interface, encoding="utf-8"):
            if "@backDeployed(before" in line:
                continue  # It demands a body, which the interface for Linux leaves out; what counts is @available.
            if line.startswith("// swift-module-flags:"):
                # The interface of concurrency for Linux leaves out the availability of implied conformances.
                more = "" if module == "Swift.swiftmodule" else " -disable-availability-checking"
                line = re.sub(r"-target \S+", f"-target {target} -disable-objc-interop{more}", line)
            if "xros" in target and "@available" in line and "visionOS" not in line:
                line = re.sub(r"\biOS (\d+)(\.\d+)*", vision, line)
            lines.append(line)
        return "".join(lines)

    def close(self):
        shutil.rmtree(self.built)

    def errors(self, *arguments):
        result = subprocess.run(self.command + list(arguments), capture_output=True, text=True, timeout=1200)
        lines = [line for line in result.stderr.split("\n") if re.match(r"\S.*: error: ", line)]
        return lines if result.returncode == 0 or lines else [result.stderr[-2000:] or "the compiler failed"]

    def declarations(self, name):
        """Makes a module of declarations that stand for those of an SDK."""
        return self.module(name, f"{ROOT}/dev/availability/{name}.swift", "-parse-as-library")

    def sources(self, name):
        """Type-checks a module of ours, and makes it importable."""
        files = sorted(glob.glob(f"{ROOT}/Sources/{name}/**/*.swift", recursive=True))
        if not files:
            return [f"Sources/{name} has no files"]
        if any("Bundle.module" in open(file, encoding="utf-8").read() for file in files):
            files.append(f"{ROOT}/dev/availability/resources/Bundle.swift")
        return self.module(name, *files, "-package-name", "assay", "-parse-as-library", "-warnings-as-errors")

    def example(self, name):
        """Type-checks a program of the documents, with what `assay dev` prints."""
        return self.errors("-typecheck", "-parse-as-library", "-module-name", "Example", f"{ROOT}/docs/examples/{name}.swift",
                           f"{ROOT}/docs/examples/Connection.swift")

    def module(self, name, *arguments):
        return self.errors("-emit-module", "-module-name", name, "-o", f"{self.built}/{name}.swiftmodule", *arguments)

    def can_judge(self, platform):
        """Whether the compiler finds what is newer, and accepts what is not."""
        probe = f"{self.built}/probe.swift"
        wait = "func f() async throws { try await Task.sleep(for: .seconds(1)) }"
        for text, is_newer in [("func f(_ a: [UInt8]) -> Int { a.span.count }", True),
                               ("func f(_ a: [UInt8]) -> Int { let b = a[...]; return b.span.count }", False),
                               (wait, platform != "visionOS 1")]:
            with open(probe, "w", encoding="utf-8") as file:
                file.write(text)
            found = self.errors("-typecheck", "-parse-as-library", probe)
            if is_newer != ("is only available in" in "".join(found)) or (found and not is_newer):
                return [f"the compiler could not be made to judge availability on {platform}: {found}"]
        return []


def compiled(interface_files):
    """The errors of the compiler in the libraries, for each of the systems."""
    found = []
    for platform in PLATFORMS:
        compiler = Compiler(f"{ROOT}/.build/availability", platform, interface_files)
        try:
            mine = compiler.can_judge(platform)
            for name in ["CBase64"] + compiler.modules:
                mine += compiler.declarations(name)
            for name in LIBRARIES if not mine else []:
                mine += compiler.sources(name)
            for example in EXAMPLES if not mine else []:
                mine += compiler.example(example)
            found += [f"{platform}: {error}" for error in mine]
        finally:
            compiler.close()
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
        found += compiled(interface_files)
        checked = f"the compiler accepts {', '.join(LIBRARIES)} for {', '.join(PLATFORMS)}"
    for line in found:
        print(line)
    if found:
        sys.exit(1)
    read = f"{len(types)} newer types from {len(interface_files)} interface files" if interface_files else "no interface files found"
    print(f"availability: {len(files)} files name nothing newer than iOS 15 and macOS 12 ({read});")
    print(f"availability: {checked}.")
    print("availability: no Apple SDK compiled them here.")


if __name__ == "__main__":
    main()
