import PurchaseVerification

/// The origins that ended with a restore from a backup (`assay audit continue`), of which the log does not cover all
/// that was signed.
struct EndedOrigins {
    let ledger: PurchaseLedger
    /// The public keys of origins that may have ended.
    let keys: [LogVerifierKey]

    /// The checkpoints that the log must agree with, and a sentence about each continuation.
    struct Result {
        var remaining: [Checkpoint]
        var continuations: [String] = []
    }

    /// Sets aside checkpoints whose leaves a restore lost, if an authentic entry says so and the key of the ended
    /// origin signed that: somebody without it could otherwise cut off leaves and write such an entry. Checkpoints of
    /// the part that was kept are compared like any others.
    func setAside(from checkpoints: [Checkpoint]) async throws -> Result {
        var result = Result(remaining: checkpoints)
        guard let key = ledger.entryKey else { return result }
        let rows = try await ledger.database.read(.lists) { connection in
            try JournalTable(connection: connection).rows(kind: Int64(JournalKind.recordContinued.rawValue))
        }
        for row in rows where key.authenticates(row.leaf, id: row.id.bytes, code: row.mac) {
            guard let leaf = JournalLeaf(bytes: row.leaf), leaf.kind == .recordContinued, let salt = row.salt,
                let content = row.details, Journal.digest(salt: salt, details: content) == leaf.details
            else { continue }
            let details = try RecordContinuedDetails(encoded: content)
            let entry = row.key
            let kept = try await ledger.database.read(.lists) { connection in
                try LogEntriesTable(connection: connection).leaf(of: entry)
            }
            let lost = result.remaining.filter {
                $0.origin.isSame(as: details.origin) && $0.size > kept ?? details.found && $0.size <= details.size
            }
            guard !lost.isEmpty else { continue }
            guard details.isSigned(by: keys) else {
                result.continuations.append(
                    """
                    entry \(entry) says that \(details.origin) ended at \(details.size) leaves; no key of an ended origin \
                    that was given signed that, so its checkpoints count (name the key with --key if it is no longer used)
                    """)
                continue
            }
            result.remaining.removeAll { lost.contains($0) }
            result.continuations.append(
                """
                \(details.origin) ended at \(details.size) leaves, of which \(details.found) remain; it continues as \
                \(details.newOrigin): \(details.reason)
                """)
        }
        return result
    }
}
