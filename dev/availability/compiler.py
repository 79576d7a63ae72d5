"""Type-checks what apps link for each of Apple's systems, without an Apple SDK.

The compiler is the toolchain's. Its standard library is made for each system from the interface for Linux, which names the availability
of each declaration; the declarations in this folder stand for the API that is used of Apple's frameworks. Neither replaces a build with
Xcode, which CI does.
"""
import concurrent.futures
import functools
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILT = ROOT / ".build/availability"

# The modules that are type-checked, each after those that it imports, and programs of the documents that use them.
LIBRARIES = [
    "TextFormats", "PurchaseVerification", "PurchaseMessages", "PurchaseAPI", "PurchaseKit", "PurchaseKitStoreKit", "PurchaseKitSimulator"]
SAMPLE = sorted((ROOT / "docs/examples/Shop/Shop").glob("*.swift"))
EXAMPLES = ["StoreKit2App", "ProScreen", "OriginalAPIApp", "PurchaseActionQueue"]

# The systems of the root package: target, name of the SDK, name of the interface, and the modules that an app of it can import.
COMMON = ["CBase64", "Darwin", "Foundation", "Security", "CryptoKit", "Network", "os", "Combine", "SwiftUI"]
PLATFORMS = {
    "macOS 12": ("x86_64-apple-macosx12.0", "macosx", "x86_64-apple-macos", ["IOKit", "AppKit", "StoreKit"]),
    "iOS 15": ("x86_64-apple-ios15.0-simulator", "iphonesimulator", "x86_64-apple-ios-simulator", ["UIKit", "StoreKit"]),
    "tvOS 15": ("x86_64-apple-tvos15.0-simulator", "appletvsimulator", "x86_64-apple-tvos-simulator", ["UIKit", "StoreKit"]),
    "watchOS 8": ("x86_64-apple-watchos8.0-simulator", "watchsimulator", "x86_64-apple-watchos-simulator", ["WatchKit", "StoreKit"]),
    "visionOS 1": ("x86_64-apple-xros1.0-simulator", "xrsimulator", "x86_64-apple-xros-simulator", ["UIKit", "StoreKit"]),
    "Catalyst 15": ("x86_64-apple-ios15.0-macabi", "maccatalyst", "x86_64-apple-ios-macabi", ["IOKit", "UIKit", "StoreKit"]),
}


@functools.cache
def toolchain():
    swift = shutil.which("swiftc")
    return pathlib.Path(swift).resolve().parent.parent if swift else pathlib.Path("/nowhere")


@functools.cache
def interfaces():
    """The interface files of the standard library, by module."""
    modules = ["Swift", "_Concurrency", "_StringProcessing", "Synchronization"]
    files = {name: sorted((toolchain() / "lib").glob(f"**/{name}.swiftmodule/*.swiftinterface")) for name in modules}
    return {name: next(file for file in found if "private" not in file.name) for name, found in files.items() if found}


def newer_types():
    """The types that the interfaces say are newer than macOS 12, with the version."""
    types = {}
    for file in interfaces().values():
        version = None
        for line in file.read_text(errors="replace").split("\n"):
            if available := re.match(r"@available\(macOS (\d+)(?:\.(\d+))?", line):
                version = (int(available.group(1)), int(available.group(2) or 0))
            elif not line.startswith("#") and (line[:1] != "@" or " struct " in line or " enum " in line):
                declared = re.match(r"(?:@\w+(?:\([^)]*\))? )*public (?:indirect |final )?(?:struct|enum|protocol|actor|class) (\w+)", line)
                if declared and version and version > (12, 0):
                    types[declared.group(1)] = ".".join(map(str, version))
                version = version if line.startswith(" ") else None
    return types


class Compiler:
    """The toolchain's compiler, configured for one of Apple's systems."""

    def __init__(self, platform):
        target, sdk, name, modules = PLATFORMS[platform]
        self.platform, self.modules, folder = platform, COMMON + modules, BUILT / sdk
        (folder / "sdk").mkdir(parents=True, exist_ok=True)
        (folder / "resources").mkdir(exist_ok=True)
        for part in ["shims", "clang"]:
            if not (folder / "resources" / part).is_symlink():
                (folder / "resources" / part).symlink_to(toolchain() / "lib/swift" / part)
        for module in ["Swift", "_Concurrency"]:
            file = folder / "resources" / sdk / f"{module}.swiftmodule" / f"{name}.swiftinterface"
            file.parent.mkdir(parents=True, exist_ok=True)
            text = "".join(adapted(line, target, module) for line in interfaces()[module].open())
            # A newer file would be compiled again.
            if not file.exists() or file.read_text() != text:
                file.write_text(text)
        self.folder = tempfile.TemporaryDirectory(dir=folder)
        self.command = [
            toolchain() / "bin/swift-frontend", "-target", target, "-resource-dir", folder / "resources", "-sdk", folder / "sdk",
            "-module-cache-path", folder / "cache", "-I", self.folder.name, "-O", "-disable-objc-interop", "-swift-version", "6",
            "-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature", "MemberImportVisibility",
            "-enable-upcoming-feature", "ExistentialAny", "-disable-implicit-string-processing-module-import", "-parse-as-library",
            "-package-name", "assay", "-D", "StoreKit27",
        ]

    def errors(self, *arguments):
        result = subprocess.run([*self.command, *arguments], capture_output=True, text=True, timeout=1200)
        lines = [line for line in result.stderr.split("\n") if re.match(r"\S.*: error: ", line)]
        return lines if result.returncode == 0 or lines else [result.stderr[-2000:] or "the compiler failed"]

    def module(self, name, *files):
        """Makes a module importable. The bodies of its functions are not looked at, which saves most of the time."""
        return self.errors("-emit-module", "-experimental-skip-non-inlinable-function-bodies", "-module-name", name,
                           "-o", f"{self.folder.name}/{name}.swiftmodule", *files)

    def judges(self):
        """Whether the compiler finds what is newer, and accepts what is not."""
        for text, is_newer in [("func f(_ a: [UInt8]) -> Int { a.span.count }", True),
                               ("func f(_ a: [UInt8]) -> Int { let b = a[...]; return b.span.count }", False),
                               ("func f() async throws { try await Task.sleep(for: .seconds(1)) }", self.platform != "visionOS 1")]:
            probe = pathlib.Path(self.folder.name, "probe.swift")
            probe.write_text(text)
            found = self.errors("-typecheck", probe)
            if is_newer != ("is only available in" in "".join(found)) or (found and not is_newer):
                return [f"the compiler could not be made to judge availability: {found}"]
        return []

    def check(self):
        """The errors of the libraries and of the programs."""
        found = self.judges()
        for name in self.modules if not found else []:
            found += self.module(name, HERE / f"{name}.swift")
        for name in LIBRARIES:
            files = sources(name)
            found = found or self.errors("-typecheck", "-module-name", name, "-warnings-as-errors", *files) or self.module(name, *files)
        for name in EXAMPLES if not found else []:
            files = [ROOT / "docs/examples" / f"{each}.swift" for each in (name, "Connection")]
            found += self.errors("-typecheck", "-module-name", "Example", *files)
        found += found or self.errors("-typecheck", "-module-name", "Shop", *SAMPLE)
        return [f"{self.platform}: {error}" for error in found]


def adapted(line, target, module):
    """A line of an interface for Linux, for one of Apple's systems."""
    if "@backDeployed(before" in line:
        return ""  # It demands a body, which the interface for Linux leaves out; what counts is @available.
    if line.startswith("// swift-module-flags:"):
        # The interface of concurrency for Linux leaves out the availability of implied conformances. Bodies are not needed, and take
        # most of the time.
        more = "" if module == "Swift" else " -disable-availability-checking"
        line = re.sub(r"-target \S+", f"-target {target} -disable-objc-interop -experimental-skip-all-function-bodies{more}", line)
        return re.sub(r" -O\b", " -Onone", line)
    if "xros" in target and "@available" in line and "visionOS" not in line:
        # Apple's SDK maps the versions by a table.
        return re.sub(r"\biOS (\d+)(\.\d+)*", lambda found: "visionOS " + {18: "2.0"}.get(int(found[1]), f"{found[1]}.0" if int(found[1]) > 18 else "1.0"), line)
    return line


def sources(name):
    files = sorted((ROOT / "Sources" / name).glob("**/*.swift"))
    return files + [HERE / "resources/Bundle.swift"] * any("Bundle.module" in file.read_text() for file in files)


def check():
    """The problems on all systems, and what was checked. Nothing is compiled again if nothing has changed."""
    if sys.platform != "linux" or "Swift" not in interfaces():
        return [], "nothing was type-checked, since this is not the toolchain for Linux"
    known = hashlib.sha256()
    examples = SAMPLE + sorted((ROOT / "docs/examples").glob("*.swift"))
    for file in [*interfaces().values(), *sorted(HERE.glob("**/*.[ps]*")), *examples, *(file for name in LIBRARIES for file in sources(name))]:
        known.update(f"{file}\0".encode() + file.read_bytes())
    accepted = BUILT / "accepted"
    if not accepted.exists() or accepted.read_text() != known.hexdigest():
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            found = [error for errors in threads.map(lambda platform: Compiler(platform).check(), PLATFORMS) for error in errors]
        if found:
            return found, ""
        accepted.write_text(known.hexdigest())
    return [], f"the compiler accepts {', '.join(LIBRARIES)} for {', '.join(PLATFORMS)}"
