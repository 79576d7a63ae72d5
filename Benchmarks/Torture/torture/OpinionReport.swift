import PurchaseVerification

/// A count of the agreements and disagreements of two verifiers.
struct OpinionTally: Sendable {
    var bothAccept = 0
    var bothRefuse = 0
    /// By the code of the stricter rule and its reason.
    var onlyOther: Tally = [:]
    /// By the reason.
    var onlyCore: Tally = [:]
    var unexplained: [String] = []

    mutating func add(_ other: OpinionTally) {
        bothAccept += other.bothAccept
        bothRefuse += other.bothRefuse
        onlyOther.add(other.onlyOther)
        onlyCore.add(other.onlyCore)
        unexplained += other.unexplained
    }
}

/// The tallies of all groups of messages, as tables.
struct OpinionReport {
    private var groups: [(name: String, tally: OpinionTally)] = []
    /// The name of the other verifier.
    let other: String

    init(_ other: String = "OpenSSL") { self.other = other }

    mutating func add(_ name: String, _ tally: OpinionTally) { groups.append((name, tally)) }

    private var sum: OpinionTally { groups.reduce(into: OpinionTally()) { $0.add($1.tally) } }

    /// Whether everything is explained, and both kinds of agreement occurred: a comparison that never accepts proves
    /// nothing.
    var holds: Bool { sum.unexplained.isEmpty && sum.bothAccept > 0 && sum.bothRefuse > 0 }

    func show() {
        print("| messages | both accept | both refuse | only \(other) accepts | only the core accepts | unexplained |")
        print("|---|---:|---:|---:|---:|---:|")
        for (name, tally) in groups + [("sum", sum)] {
            print(
                "| \(name) | \(tally.bothAccept) | \(tally.bothRefuse) | \(tally.onlyOther.total) "
                    + "| \(tally.onlyCore.total) | \(tally.unexplained.count) |")
        }
        print("\n| only \(other) accepts: times | code | why the core is stricter |\n|---:|---|---|")
        for (code, count) in sum.onlyOther.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            print("| \(count) | \(code) |")
        }
        print("\n| only the core accepts, because | times |\n|---|---:|")
        for (reason, count) in sum.onlyCore { print("| \(reason) | \(count) |") }
        for line in sum.unexplained { print("UNEXPLAINED: \(line)") }
    }
}
