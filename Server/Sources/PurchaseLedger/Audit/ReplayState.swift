import PurchaseVerification

/// What a replay keeps between entries, besides the tables.
struct ReplayState: Sendable {
    /// The settings so far.
    var registry = Registry(apps: [])
    /// The version of the rules in force.
    var rules: Int64 = 0
    var order: EntryOrder
    /// The first leaf whose order needs no look at the numbers.
    var ordered: Int64
    /// What the ledger has not moved yet of the merge in progress.
    var unmoved = UnmovedRows()
}

/// The findings of a replay. It is a class because all steps share it.
final class ReplayFindings {
    private(set) var list: [AuditFinding] = []

    func add(_ finding: AuditFinding?) {
        if let finding { list.append(finding) }
    }

    /// Adds the finding that an entry cannot come at its place.
    func add(impossible leaf: JournalLeaf, _ reason: String) {
        add(AuditFinding(kind: .entryImpossible, detail: "\(leaf.kind.name) \(leaf.id.text): \(reason)"))
    }
}
