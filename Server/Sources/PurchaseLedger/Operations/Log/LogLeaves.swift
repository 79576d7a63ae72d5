import PurchaseVerification

/// Leaves of the log, each authenticated as written by a server with the key.
struct LogLeaves: LedgerQuery {
    static var access: LedgerReadAccess { .lists }
    /// Leaves of a page.
    static let limit: Int64 = 1024

    let key: EntryKey
    let range: Range<Int64>

    func answer(_ reader: LedgerTransaction) throws -> [MerkleHash] {
        let limit = min(Self.limit, range.upperBound - range.lowerBound)
        var hashes: [MerkleHash] = []
        for row in try LogEntriesTable(connection: reader.connection).rows(from: range.lowerBound, limit: limit) {
            guard row.leafNumber == range.lowerBound + Int64(hashes.count), let leaf = row.leaf else { break }
            guard key.authenticates(leaf, id: row.entryID, code: row.mac) else {
                throw LogError(
                    .notAuthentic,
                    "entry \(row.entryKey), leaf \(row.leafNumber), was not written by a server with the key")
            }
            hashes.append(.leaf(leaf))
        }
        guard hashes.count == limit else {
            throw LogError(.rewritten, "the log lacks leaf \(range.lowerBound + Int64(hashes.count))")
        }
        return hashes
    }
}
