import PurchaseVerification

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
