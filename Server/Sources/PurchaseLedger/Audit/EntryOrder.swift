import PurchaseVerification

/// Compares the numbers of entries with their order in the log, which is the order of the numbers on both engines
/// (`SealEntries`).
///
/// The ledger orders claims of one purchase, and merges, by the numbers of their entries, so somebody who exchanges the
/// numbers of two entries must not stay unnoticed.
struct EntryOrder: Sendable {
    /// The greatest number so far.
    private var last: Int64 = 0

    /// The finding if an entry has a lower number than an earlier one.
    mutating func finding(_ row: JournalRow, _ kind: JournalKind) -> AuditFinding? {
        defer { last = max(last, row.key) }
        guard row.key < last else { return nil }
        return AuditFinding(
            kind: .orderDiffers,
            detail: "entry \(row.key) (\(kind.name)) comes after entry \(last), which has the greater number")
    }
}
