#!/usr/bin/env python3
"""Writes what is linked into the program: bom.cdx.json (CycloneDX 1.5) and third-party-licenses.txt.

    dev/release/bom.py SCRATCH PROGRAM FOLDER VERSION COMMIT DATE

A package is listed if an object file of one of its modules was given to the linker. Its version is that of
`swift package show-dependencies`, its licence that of the licence file in its checkout. A module without a package, a licence
that is not recognised, and a shared library without a package end the script with an error.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# A sentence of each licence that no other has.
LICENSES = {
    "Apache-2.0": r"Apache License\s+Version 2\.0",
    "MIT": r"Permission is hereby granted, free of charge",
    "BSD-3-Clause": r"Neither the name of",
    "BSD-2-Clause": r"Redistribution and use in source and binary forms",
}
# Code of others inside the packages: their own notices, beside their sources.
VENDORED = {
    "swift-crypto": [("boringssl", "Sources/CCryptoBoringSSL/LICENSE", "Apache-2.0 AND ISC")],
    "swift-nio-ssl": [("boringssl", "Sources/CNIOBoringSSL/LICENSE", "Apache-2.0 AND ISC")],
    "swift-nio": [("llhttp", "Sources/CNIOLLHTTP/LICENSE", "MIT")],
    "Yams": [("libyaml", None, "MIT")],
}


def run(*command: str, cwd: pathlib.Path = ROOT) -> str:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def all_packages(node: dict, found: dict[str, dict]) -> dict[str, dict]:
    for each in node["dependencies"]:
        found[each["identity"]] = each
        all_packages(each, found)
    return found


def linked_modules(products: pathlib.Path) -> set[str]:
    """The modules whose object files the linker got."""
    lists = (products / "assay.product" / "Objects.LinkFileList").read_text()
    modules = set(re.findall(r"/([^/\n']+)\.build/", lists))
    if not modules:
        sys.exit("the list of the linker names no module")
    return modules


def modules_of(package: pathlib.Path) -> set[str]:
    """The names of the targets in a manifest, and of the folders of its sources."""
    names = {folder.name for folder in package.glob("Sources/*") if folder.is_dir()}
    for manifest in package.glob("Package*.swift"):
        names |= set(re.findall(r'arget\(\s*name:\s*"([^"]+)"', manifest.read_text()))
    return names


def license_of(package: pathlib.Path) -> tuple[str, pathlib.Path]:
    files = [file for file in sorted(package.iterdir()) if re.match(r"(?i)licen[cs]e", file.name) and file.is_file()]
    if not files:
        sys.exit(f"{package.name} has no licence file")
    text = files[0].read_text(errors="replace")
    for name, pattern in LICENSES.items():
        if re.search(pattern, text):
            exception = name == "Apache-2.0" and "Runtime Library Exception" in text
            return name + (" WITH Swift-exception" if exception else ""), files[0]
    sys.exit(f"the licence of {package.name} is not known: {files[0]}")


def component(kind: str, name: str, version: str, licence: str, **more: object) -> dict:
    return {
        "type": kind, "bom-ref": more.pop("ref", f"{name}@{version}"), "name": name, "version": version,
        "licenses": [{"expression": licence}], **more,
    }


def swift_packages(scratch: pathlib.Path, products: pathlib.Path) -> tuple[list[dict], list[tuple[str, str]]]:
    tree = json.loads(run(
        "swift", "package", "--package-path", "Server", "--scratch-path", str(scratch), "show-dependencies", "--format", "json"))
    packages = all_packages(tree, {})
    places = {name: pathlib.Path(each["path"]) for name, each in packages.items()}
    own = modules_of(ROOT) | modules_of(ROOT / "Server")
    modules = linked_modules(products) - own
    components, notices = [], []
    for name, package in sorted(packages.items()):
        place = places[name]
        if place.resolve() == ROOT:
            continue
        linked = sorted(modules & modules_of(place))
        if not linked:
            continue
        modules -= set(linked)
        licence, file = license_of(place)
        version = package["version"]
        url = package["url"].removesuffix(".git")
        path = re.sub(r"^(https?://|git@)", "", url).replace(":", "/")
        components.append(component(
            "library", place.name, version, licence, ref=f"pkg:swift/{path}@{version}", purl=f"pkg:swift/{path}@{version}",
            externalReferences=[{"type": "vcs", "url": url}],
            properties=[{"name": "assay:modules", "value": ", ".join(linked)}]))
        texts = [file] + [each for each in sorted(place.iterdir()) if each.name.upper().startswith("NOTICE")]
        for vendored, text, terms in VENDORED.get(place.name, []):
            components.append(component("library", vendored, f"in {place.name} {version}", terms))
            if text and (place / text).exists():
                texts.append(place / text)
        notices += [(f"{place.name} {version}: {each.relative_to(place)}", each.read_text(errors="replace")) for each in texts]
    if modules:
        sys.exit(f"no package is known for the modules {', '.join(sorted(modules))}")
    return components, notices


def swift_runtime() -> tuple[list[dict], list[tuple[str, str]]]:
    """The libraries of the toolchain that are linked statically."""
    found = re.search(r"Swift version (\S+)", run("swift", "--version"))
    version = found.group(1) if found else "unknown"
    exception = "Apache-2.0 WITH Swift-exception"
    components = [
        component("library", "swift-standard-library", version, exception),
        component("library", "swift-corelibs-libdispatch", version, exception),
        component("library", "swift-foundation", version, exception),
        component("library", "swift-corelibs-foundation", version, exception),
        component("library", "icu", f"of swift-foundation-icu in Swift {version}", "Unicode-3.0"),
    ]
    swift = pathlib.Path(run("sh", "-c", 'readlink -f "$(command -v swift)"').strip())
    license_file = swift.parent.parent / "share" / "swift" / "LICENSE.txt"
    notices = [(f"Swift {version}", license_file.read_text())] if license_file.exists() else []
    return components, notices


def shared_libraries(program: pathlib.Path) -> list[dict]:
    """The shared libraries of the system, with the packages of the machine that built the program."""
    needed = re.findall(r"NEEDED.*\[(.+?)\]", run("readelf", "-d", str(program)))
    places = dict(re.findall(r"(\S+) => (\S+)", run("ldd", str(program))))
    components: dict[str, dict] = {}
    for library in needed:
        if library.startswith("ld-linux"):
            continue
        place = pathlib.Path(places[library]).resolve()
        owner = ""
        # dpkg knows a file of /lib under the name that its package gave it.
        for name in (str(place), str(place).removeprefix("/usr")):
            asked = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
            owner = owner or asked.stdout.split(":")[0]
        if not owner:
            sys.exit(f"no package of the system has {place}")
        if owner in components:
            components[owner]["properties"][0]["value"] += f", {library}"
            continue
        version = run("dpkg-query", "-W", "-f", "${Version}", owner)
        text = pathlib.Path(f"/usr/share/doc/{owner}/copyright")
        components[owner] = component(
            "library", owner, version, SHARED[owner], purl=f"pkg:deb/debian/{owner}@{version}",
            scope="required", properties=[{"name": "assay:shared", "value": library}]
            + ([{"name": "assay:copyright", "value": str(text)}] if text.exists() else []))
    return list(components.values())


SHARED = {
    "libc6": "LGPL-2.1-or-later", "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1", "libpq5": "PostgreSQL", "libsqlite3-0": "blessing",
    "zlib1g": "Zlib", "libssl3": "Apache-2.0", "libcurl4": "curl", "libxml2": "MIT", "libuuid1": "BSD-3-Clause",
}


def main() -> None:
    scratch, program, folder, version, commit, date = sys.argv[1:]
    products = pathlib.Path(scratch) / "release"
    packages, notices = swift_packages(pathlib.Path(scratch), products)
    runtime, more = swift_runtime()
    shared = shared_libraries(pathlib.Path(program))
    digest = hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()
    application = component("application", "assay", version, "Apache-2.0", ref=f"assay@{version}")
    application["hashes"] = [{"alg": "SHA-256", "content": digest}]
    application["properties"] = [{"name": "assay:commit", "value": commit}]
    components = packages + runtime + shared
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "metadata": {"timestamp": f"{date}T00:00:00Z", "component": application},
        "components": components,
        "dependencies": [{"ref": application["bom-ref"], "dependsOn": [each["bom-ref"] for each in components]}],
    }
    target = pathlib.Path(folder)
    (target / "bom.cdx.json").write_text(json.dumps(document, indent=2) + "\n")
    texts = [f"{'=' * 100}\n{title}\n{'=' * 100}\n\n{text.rstrip()}\n" for title, text in notices + more]
    (target / "third-party-licenses.txt").write_text("\n".join(texts))
    print(f"bill of materials: {len(packages)} packages, {len(runtime)} of the toolchain, {len(shared)} shared libraries")


main()
