import PurchaseVerification

/// A page of pending entries, read before a transaction is spent on them.
struct PendingPage: LedgerQuery {
    static var access: LedgerReadAccess { .keys }

    let key: EntryKey
    let after: Int64

    struct Answer: Sendable {
        var last: Int64?
        /// Whether one of them can be sealed.
        var isSealable: Bool
        var refused: [Int64]
    }

    func answer(_ reader: LedgerTransaction) throws -> Answer {
        let entries = try LogPendingTable(connection: reader.connection)
            .entries(after: after, limit: SealEntries.limit)
        var answer = Answer(last: entries.last?.entryKey, isSealable: false, refused: [])
        for entry in entries {
            guard entry.authenticLeaf(key) == nil else {
                answer.isSealable = true
                break
            }
            answer.refused.append(entry.entryKey)
        }
        return answer
    }
}
