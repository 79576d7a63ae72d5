#!/usr/bin/env python3
"""Changes the pure rules of the ledger, one place at a time, and expects a test to fail for each change.

The module of the rules (Server/Sources/LedgerRules) is copied into a package of its own, with the tests that need no database:
all of SmallWorldTests, and the files of FOLDERS in PurchaseLedgerTests that name neither a database nor a ledger. Compare has
only tests with a database, so it is not changed. All changes are compiled at once, and an environment variable turns one of
them on, so each costs a run and no build. The exit status is 0 only if a test fails for every
change, and none fails without one.

  dev/mutate.py                   40 changes, chosen by the seed 33
  dev/mutate.py --count 80 --seed 7
  dev/mutate.py --only 12,31      two of those that --list shows
  dev/mutate.py --list            every possible change
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import time

HOME = pathlib.Path(__file__).resolve().parent.parent
RULES = HOME / "Server/Sources/LedgerRules"
TESTS = HOME / "Server/Tests"
STEPS = ["Observe", "Own", "Entitle", "Order", "Claim"]
FOLDERS = [*STEPS, "Tell"]
# The corpus is genuine evidence, which takes long and is not everywhere.
NEEDS_DATABASE = re.compile(r"\b(Corpus\.items|LedgerWorld|TestEngine|SQLiteDatabase|PostgreSQLDatabase|LedgerDatabase)\b")

# Changes that no answer can show, with the reason: as a survivor is printed, without its number.
EQUIVALENT = r"""
# Of two steps at one time the later in the list counts, and the note is put before it.
SubscriptionAccess.swift: < becomes <=: guard first.map({ start < $0.at }) ?? true else { return }
# A table without periods has no times at which it changes.
SubscriptionAccess.swift: the condition is dropped: guard !periods.isEmpty else { return [] }
# Both values that are compared are turned around.
ChangedHistory.swift: != becomes ==: fileprivate var renews: Bool { autoRenewStatus != 0 }
# Statements of one slot have the same transaction beside them, so both ways keep the left one.
FactsMerge.swift: the condition is dropped: guard left.info != right.info else {
# Refused passes are read only for their note, for which SpanList makes their span empty.
PassAccess.swift: a part of the condition is dropped: pass.refusal == nil: guard pass.owner != nil, pass.refusal == nil, let duration = pass.terms?.duration else {
# A shortcut: the way of several transactions gives the same purchase of one.
PurchaseGrouping.swift: the condition is never taken: if transactions.count == 1 { return [OwnedPurchase(of: transactions, owners, terms)].compactMap(\.self) }
# A timeline sorts its steps. Joined spans have no time in common but an equal start, and the rest orders those.
OriginalAccess.swift: the condition is never taken: if left.from != right.from { return left.from < right.from }
# Spans are joined within one ground, which has one source.
OriginalAccess.swift: + becomes -: ] + names
# Of two equal values, either is kept.
FactsMerge.swift: < becomes <=: (left.stamp, left.token) < (right.stamp, right.token) ? right : left
# No two orders have the same number.
OrderBook.swift: < becomes <=: ($0.status == .created ? 0 : 1, $0.key) < ($1.status == .created ? 0 : 1, $1.key)
# Without news the withdrawal before is the present one, and a purchase that is withdrawn as a whole pays nothing.
OrderSettlement.swift: a part of the condition is dropped: change.isNews: guard change.isNews, first.isBoughtByOwner else { return false }
# An entry names one order for one transaction.
OrderBook.swift: < becomes <=: return orders.sorted { $0.entry < $1.entry }.map(\.order)
# Each name is there once.
CustomerEntitlements.swift: < becomes <=: return named.values.sorted { $0.name < $1.name }
# A shortcut: what is done with the same state twice is done once.
EntitlementChange.swift: a part of the condition is dropped: former !== transaction.current: if let former = transaction.former, former !== transaction.current { body(transaction, former) }
# The end is in the list, which has each time once.
SubscriptionTable.swift: > becomes >=: if renewal.stamp > end { times.append(renewal.stamp) }
# What begins later has not ended.
ClaimSituation.swift: a part of the condition is dropped: !beginsLater: guard purchase.kind == .autoRenewable, !beginsLater, let end = purchase.facts.end, end <= now else {
# A shortcut: nothing is withdrawn, before or now.
ChangedHistory.swift: false is negated: isRelevant($0.current.facts) || $0.former.map { isRelevant($0.facts) } ?? false
# A shortcut: the set then has the buyer.
ChangedHistory.swift: the condition is never taken: if facts.holder == .buyer { isBought = true } else { holders.insert(facts.holder) }
# An entry has one claim, transfer or merge, or claims of one customer.
OwnershipHistory.swift: < becomes <=: let ordered = merges.isEmpty ? counted : (counted + merges).sorted { $0.entry < $1.entry }
# The whole share of a quantity is the quantity.
Observation.swift: < becomes <=: guard share > 0, share < Self.whole else { return share == 0 ? 0 : quantity }
# Merges are in a list of their own.
OwnershipHistory.swift: true is negated: case .merge: true
# Only periods with an end are asked whether they have ended.
SubscriptionAccess.swift: false is negated: period.end.map { $0 <= stamp.adding(milliseconds: period.allowance, times: 1) } ?? false
""".split("\n")
# "Smaller" and "at most" are the same where the two are known to differ.
DIFFERENT = [re.compile(r"guard (.+) == (.+) else \{ return \1 < \2\b"), re.compile(r"if (.+) != (.+) \{ return \1 < \2 \}")]

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
OTHERS = COMPARISONS | LOGIC | {"+": "-", "-": "+", "/": "*", "*": "/"}
# The kind of a change of one word, the word, and what the change does.
WORDS = [
    ("truth", re.compile(r"(?<![\w.])(true|false)\b"), "{} is negated"),
    ("extreme", re.compile(r"(?<![\w.])(min|max)(?=\()"), "{} becomes the other"),
    ("negation", re.compile(r"(?<=[ (])!(?=[\w$(])"), "the negation is dropped"),
]
DEFAULT = re.compile(r"(let|var) \w+ = (true|false)|: Bool = ")
OPERATOR = re.compile(r"(?<=\S) (<=|>=|==|!=|&&|\|\||<|>|\+|-|\*|/) (?=\S)")
CONDITION = re.compile(r"( *)(guard|if|} else if) (.*?)(,?$| else \{| \{)")
DECLARATION = re.compile(r"(public |package |private |fileprivate |static |mutating |extension|import)*"
                         r"(func|extension|import|struct|enum|init|typealias)\b")
RULE = re.compile(r" *if (?!.*\blet\b).* \{ (return|continue) ?.* ?\}$")
BINDING = re.compile(r"\b(let|var|case)\b|[{}]")


def code(line):
    """The line without its comment, and with its strings blanked."""
    line = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: '"' + "_" * (len(m.group()) - 2) + '"', line)
    return line.split("//")[0]


def clauses(condition):
    """The clauses of a condition, with their places in it; none if a closure goes on behind it."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(condition.removesuffix(",") + ","):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            part = condition[begin:place]
            parts.append((begin + len(part) - len(part.lstrip()), part.strip()))
            begin = place + 1
    return parts if depth == 0 else []


def claim_rules(lines):
    """The lists of claim rules: the line that opens each, the line that closes it, and the lines on which its rules begin."""
    lists, opened = [], None
    for number, line in enumerate(lines):
        if re.search(r": \[ClaimRule<\w+>\] = \[$", line):
            opened, rules = number, []
        elif opened is not None and line == "    ]":
            lists.append((opened, number, rules))
            opened = None
        elif opened is not None and (line.startswith("        ClaimRule(")):
            # Two short rules can stand on one line.
            rules += [number] * len(re.findall(r"ClaimRule\(", line))
    return lists


def candidates():
    """Every possible change: file, number of the line, kind, place in the line, what it does."""
    found = []
    for path in sorted(path for step in STEPS for path in (RULES / step).rglob("*.swift")):
        lines = path.read_text().splitlines()
        for number, text in enumerate(map(code, lines)):
            if text.strip() and not DECLARATION.match(text.strip()):
                following = code(lines[number + 1]) if number + 1 < len(lines) else ""
                found += [(path, number, *change) for change in changes_of(text, following)]
        for opened, _, rules in claim_rules(lines):
            for place, number in enumerate(rules):
                found.append((path, opened, f"drop {place}", 0, f"rule {place + 1} is dropped, in line {number + 1}"))
                if place + 1 < len(rules):
                    found.append((path, opened, f"exchange {place}", 0, f"rule {place + 1} is swapped with the next, in line {number + 1}"))
    return found


def changes_of(text, following):
    """The possible changes of a line: kind, place and what it does."""
    for match in OPERATOR.finditer(text):
        operator = match.group(1)
        if not (operator in "+-*/" and '"' in text):
            yield "operator", match.start(1), f"{operator} becomes {OTHERS[operator]}"
    for kind, pattern, what in WORDS:
        for match in pattern.finditer(text):
            if kind != "truth" or not DEFAULT.search(text):
                yield kind, match.start(), what.format(match.group())
    condition = CONDITION.match(text)
    if condition and (parts := clauses(condition.group(3))):
        plain = [part for part in parts if not BINDING.search(part[1])]
        begin, goes_on = condition.start(3), condition.group(4) == ","
        if len(plain) == len(parts) and not goes_on:
            yield "condition", begin, f"the condition is {'dropped' if condition.group(2) == 'guard' else 'never taken'}"
        if len(parts) > 1 or goes_on:
            for place, part in plain:
                yield "clause", begin + place, f"a part of the condition is dropped: {part}"
    if RULE.match(text) and RULE.match(following):
        yield "swap", 0, "the rule is swapped with the next"


def line_of(change):
    return change[0].read_text().splitlines()[change[1]].strip()


def name(change):
    path, number, _, _, what = change
    return f"{path.relative_to(RULES)}:{number + 1}: {what}: {line_of(change)}"


def is_equivalent(change):
    line, what = line_of(change), change[4]
    return f"{change[0].name}: {what}: {line}" in EQUIVALENT or (
        what == "< becomes <=" and any(pattern.match(line) for pattern in DIFFERENT))


def changed(line, number, change):
    """The line, with the change behind a switch."""
    _, _, kind, place, what = change
    if kind == "operator":
        operator = what.split()[0]
        return line[:place] + symbol(number, operator) + line[place + len(operator):]
    if kind == "truth":
        word = re.match(r"true|false", line[place:]).group()
        return f"{line[:place]}Mutant.flip({number}, {word}){line[place + len(word):]}"
    if kind == "extreme":
        return f"{line[:place]}{line[place:place + 3]}Mutant{number}{line[place + 3:]}"
    if kind == "negation":
        return f"{line[:place]}{symbol(number, '!')}{line[place + 1:]}"
    match = CONDITION.match(code(line))
    end = match.end(3)
    if kind == "clause":
        begin, part = next((begin, part) for begin, part in clauses(line[match.start(3):end])
                           if match.start(3) + begin == place)
        return f"{line[:place]}(Mutant.is({number}) || ({part})){line[place + len(part):]}"
    if match.group(2) != "guard":
        return f"{line[:place]}!Mutant.is({number}), {line[place:]}"
    whole = " && ".join(f"({part})" for _, part in clauses(line[match.start(3):end]))
    return f"{line[:place]}Mutant.is({number}) || ({whole}){line[end:]}"


def symbol(number, operator):
    """An operator of its own for each change."""
    first = {"<": "<", "<=": "<", ">": ">", ">=": ">", "==": "=", "!=": "=", "&&": "&", "||": "|"}.get(operator, operator)
    return first + "".join("~^"[int(bit)] for bit in f"{number + 1:b}") + "~"


COMMON = """import Foundation
import PurchaseVerification

public enum Mutant {
    public static let active = Int(ProcessInfo.processInfo.environment["ASSAY_MUTANT"] ?? "") ?? -1
    static func `is`(_ number: Int) -> Bool { number == active }
    static func flip(_ number: Int, _ value: Bool) -> Bool { number == active ? !value : value }

    static func rules<Rule>(
        dropping: [(Int, Int)], exchanging: [(Int, Int)], _ rules: [Rule]
    ) -> [Rule] {
        var rules = rules
        for (number, place) in exchanging where number == active { rules.swapAt(place, place + 1) }
        for (number, place) in dropping where number == active { rules.remove(at: place) }
        return rules
    }
}
"""


def switches(changes):
    """Declares the operators."""
    parts = [COMMON]
    for number, (_, _, kind, _, what) in enumerate(changes):
        one, other, is_active = what.split()[0], what.split()[-1], f"Mutant.active == {number}"
        if kind == "extreme":
            opposite = {"min": "max", "max": "min"}[one]
            parts.append(f"func {one}Mutant{number}<T: Comparable>(_ left: T, _ right: T) -> T {{ "
                         f"{is_active} ? Swift.{opposite}(left, right) : Swift.{one}(left, right) }}")
        elif kind == "negation":
            own = symbol(number, "!")
            parts += [f"prefix operator {own}", f"prefix func {own} (value: Bool) -> Bool {{ {is_active} ? value : !value }}"]
        elif kind == "operator":
            parts += operators(symbol(number, one), one, other, is_active)
    return "\n".join(parts) + "\n"


def operators(own, one, other, is_active):
    """An operator that is another one if the change is active, for each type that the rules use it with."""
    either, precedence = f"{is_active} ? left {other} right : left {one} right", "Comparison"
    if one in COMPARISONS:
        bound = "Equatable" if one in ("==", "!=") else "Comparable"
        for types in ("T", "TU", "TUV"):
            pair = types if len(types) == 1 else f"({', '.join(types)})"
            yield f"func {own} <{', '.join(f'{each}: {bound}' for each in types)}>(left: {pair}, right: {pair}) -> Bool {{ {either} }}"
        if bound == "Equatable":
            yield f"@_disfavoredOverload func {own} <T>(left: T?, right: _OptionalNilComparisonType) -> Bool {{ {either} }}"
    elif one in LOGIC:
        precedence = "LogicalConjunction" if one == "&&" else "LogicalDisjunction"
        yield (f"func {own} (left: Bool, right: @autoclosure () throws -> Bool) rethrows -> Bool {{ "
               f"if {is_active} {{ return try left {other} right() }}; return try left {one} right() }}")
    else:
        precedence, bound = ("Addition", "AdditiveArithmetic") if one in "+-" else ("Multiplication", "FixedWidthInteger")
        yield f"func {own} <T: {bound}>(left: T, right: T) -> T {{ {either} }}"
        # What has no minus keeps its left part.
        for generics, kind in (("<T>", "[T]"), ("", "ConsumableBalance")) if one == "+" else ():
            yield f"func {own} {generics}(left: {kind}, right: {kind}) -> {kind} {{ {is_active} ? left : left + right }}"
    yield f"infix operator {own}: {precedence}Precedence"


MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]
func product(_ name: String) -> Target.Dependency { .product(name: name, package: "assay") }

let package = Package(
    name: "mutants", platforms: [.macOS(.v15)], dependencies: [.package(name: "assay", path: "%s")],
    targets: [
        .target(name: "LedgerRules", dependencies: [product("PurchaseVerification")], swiftSettings: settings),
        .target(name: "WrittenRules", swiftSettings: settings),
        .target(
            name: "SmallWorlds", dependencies: ["LedgerRules", "WrittenRules", product("PurchaseVerification")],
            swiftSettings: settings),
        .testTarget(
            name: "PureTests",
            dependencies: ["LedgerRules", "SmallWorlds", "WrittenRules"]
                + ["EvidenceMint", "PurchaseVerification", "TestSupport"].map(product), swiftSettings: settings),
    ])
"""


def mutated(path, changes):
    """The text of a file, with those changes that are in it."""
    lines = path.read_text().split("\n")
    original, own = list(lines), {}
    for number, change in enumerate(changes):
        if change[0] == path:
            own.setdefault(change[1], []).append((number, change))
    for place in own:
        # From the end of the line, so that places stay right.
        for number, change in sorted(own[place], key=lambda c: (-c[1][3], c[1][2] != "operator")):
            if change[2].split()[0] not in ("swap", "drop", "exchange"):
                lines[place] = changed(lines[place], number, change)
    texts = list(lines)
    for place in own:
        for number, change in own[place]:
            if change[2] == "swap":
                # Each rule returns, so to have the next one first is to swap them.
                lines[place] = f"if Mutant.is({number}) {{\n{texts[place + 1]}\n}}\n{lines[place]}"
    for opened, closed, rules in claim_rules(original):
        edits = [(number, *change[2].split()) for number, change in own.get(opened, []) if " " in change[2]]
        if edits:
            drops, exchanges = (", ".join(f"({number}, {at})" for number, kind, at in edits if kind == wanted)
                                for wanted in ("drop", "exchange"))
            lines[opened] = (lines[opened].removesuffix("[")
                             + f"Mutant.rules(dropping: [{drops}], exchanging: [{exchanges}], [")
            lines[closed] = "    ])"
    return "\n".join(lines)


def tests():
    """The files of tests that need no database."""
    for folder in FOLDERS:
        for path in sorted((TESTS / "PurchaseLedgerTests" / folder).rglob("*.swift")):
            if not NEEDS_DATABASE.search(path.read_text()):
                yield path
    yield from sorted((TESTS / "SmallWorldTests").rglob("*.swift"))


def write(folder, changes):
    """Writes the package. Files that do not change keep their time, so that they are not compiled again."""
    files = {"Package.swift": MANIFEST % HOME,
             "Sources/LedgerRules/Mutants.swift": switches(changes)}
    for path in RULES.rglob("*.swift"):
        files[f"Sources/LedgerRules/{path.relative_to(RULES)}"] = mutated(path, changes)
    for target in ("WrittenRules", "SmallWorlds"):
        for path in (TESTS / target).rglob("*.swift"):
            files[f"Sources/{target}/{path.name}"] = path.read_text()
    for path in tests():
        files[f"Tests/PureTests/{path.name}"] = path.read_text().replace("import PurchaseLedger\n", "import LedgerRules\n")
    for path in folder.rglob("*.swift"):
        relative = str(path.relative_to(folder))
        if not relative.startswith(".build") and relative not in files:
            path.unlink()
    for relative, text in files.items():
        path = folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def run(folder, number, seconds):
    """Whether all tests pass; a run that takes too long counts as a failure."""
    program = folder / ".build/debug/mutantsPackageTests.xctest"
    command = [str(program), "--testing-library", "swift-testing"]
    if not program.is_file():
        command = ["swift", "test", "--package-path", str(folder), "--skip-build", "--disable-xctest"]
    environment = dict(os.environ, ASSAY_MUTANT=str(number), ASSAY_WORLD_EVENTS="2", ASSAY_RANDOM_HISTORIES="60",
                       ASSAY_MERGE_ROUNDS="100", NO_COLOR="1")
    try:
        result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                timeout=seconds, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return False, "it took too long"
    failed = re.findall(r"Test (.*?) (?:failed|recorded an issue)", result.stdout)
    if result.returncode == 0 and not re.search(r"Test run with [1-9]\d* tests", result.stdout):
        sys.exit("no test ran:\n" + result.stdout[-2000:])
    return result.returncode == 0, failed[0] if failed else result.stdout[-400:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=33)
    parser.add_argument("--only", help="numbers of changes, as --list shows them")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    every = candidates()
    if options.list:
        for number, change in enumerate(every):
            print(number, name(change), "(equivalent)" if is_equivalent(change) else "")
        return
    possible = [change for change in every if not is_equivalent(change)]
    if options.only:
        changes = [every[int(number)] for number in options.only.split(",")]
    else:
        # By the hash of their texts: a line that is added elsewhere leaves the choice of a seed as it is.
        def order(change):
            text = re.sub(r":\d+: ", ": ", name(change), count=1)
            return hashlib.sha256(f"{options.seed} Decisions/{text}".encode()).digest()
        chosen = sorted(possible, key=order)[:options.count]
        changes = [change for change in possible if change in chosen]
    folder = HOME / ".torture/mutants"
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, changes)
    print(f"{len(every)} possible changes, {len(every) - len(possible)} of them equivalent; building {len(changes)}", flush=True)
    build = subprocess.run(["swift", "build", "--build-tests", "--package-path", str(folder), "-j", "2"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if build.returncode != 0:
        errors = dict.fromkeys(line for line in build.stdout.splitlines() if re.search(r"\.swift:\d+:\d+: error", line))
        sys.exit("\n".join(errors)[:6000] or build.stdout[-3000:])
    begin = time.monotonic()
    passes, failure = run(folder, -1, 900)
    if not passes:
        sys.exit(f"a test fails without a change: {failure}")
    once = time.monotonic() - begin
    print(f"the tests take {once:.1f} s", flush=True)
    survivors = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda number: run(folder, number, 60 + 5 * once), range(len(changes)))
        for change, (survives, failure) in zip(changes, results):
            print("SURVIVES" if survives else "found   ", name(change), "" if survives else f"[{failure.strip()[:90]}]", flush=True)
            if survives:
                survivors.append(change)
    print(f"{len(changes) - len(survivors)} of {len(changes)} changes are found in {time.monotonic() - begin:.0f} s")
    if survivors:
        sys.exit("No test fails for:\n" + "\n".join("  " + name(change) for change in survivors))


main()
