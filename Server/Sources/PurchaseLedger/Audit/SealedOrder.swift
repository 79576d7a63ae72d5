import PurchaseVerification

/// The order of leaves that the sealer of the first rules numbered on PostgreSQL.
///
/// It read pending entries in pages. An entry that was committed between two pages with a lower number was sealed after
/// entries with higher ones, also if one of these had waited for its locks. So among near leaves the numbers are the
/// true order, if the times in the leaves agree with them: nobody without a key can change a time. Other leaves keep
/// their order.
enum SealedOrder {
    /// How many leaves later an overtaken entry can be: those of a few pages of the sealer.
    static let lookahead = 1024
    /// How far the clocks of servers may differ, in milliseconds. Two entries with greater differences are in the order
    /// of time.
    private static let clockSkew: Int64 = 5_000

    /// The first version of the rules with the newer sealer.
    private static let firstRules: Int64 = 2

    /// Consecutive leaves that are replayed together.
    struct Block {
        let range: Range<Int>
        let rows: [JournalRow]
    }

    /// The first leaf of the newer sealer: that of the entry which introduced version 2 of the rules. The entry is
    /// found by its leaf and details, because the table of rules and the numbers prove nothing.
    static func firstOrdered(_ connection: any LedgerConnection) throws(LedgerStorageError) -> Int64 {
        var first = Int64.max
        for row in try JournalTable(connection: connection).rows(kind: Int64(JournalKind.rules.rawValue)) {
            guard let leaf = JournalLeaf(bytes: row.leaf), leaf.kind == .rules, let salt = row.salt,
                let details = row.details, Journal.digest(salt: salt, details: details) == leaf.details,
                try RulesDetails(encoded: details).version >= firstRules,
                let place = try LogEntriesTable(connection: connection).leaf(of: row.key)
            else { continue }
            first = min(first, place)
        }
        return first
    }

    /// Divides leaves where all numbers before are lower than all after.
    ///
    /// - Parameter isEnd: whether there are no leaves after them; otherwise the last ones are only looked at.
    static func blocks(of rows: [JournalRow], isEnd: Bool) -> [Block] {
        var blocks: [Block] = []
        var lowest: [Int64] = Array(repeating: .max, count: rows.count + 1)
        for index in rows.indices.reversed() { lowest[index] = min(lowest[index + 1], rows[index].key) }
        let end = isEnd ? rows.count : max(1, rows.count - lookahead)
        var (start, greatest) = (0, Int64.min)
        for index in 0..<end {
            greatest = max(greatest, rows[index].key)
            guard greatest < lowest[index + 1] else { continue }
            blocks.append(block(start..<index + 1, of: rows))
            start = index + 1
        }
        // Numbers that are further apart were exchanged.
        if start < end { blocks.append(Block(range: start..<end, rows: Array(rows[start..<end]))) }
        return blocks
    }

    private static func block(_ range: Range<Int>, of rows: [JournalRow]) -> Block {
        let unsorted = Array(rows[range])
        guard range.count > 1 else { return Block(range: range, rows: unsorted) }
        let sorted = unsorted.sorted { $0.key < $1.key }
        var latest = Int64.min
        for row in sorted {
            guard let at = JournalLeaf(bytes: row.leaf)?.at.millisecondsSince1970,
                latest == .min || latest - clockSkew <= at
            else { return Block(range: range, rows: unsorted) }
            latest = max(latest, at)
        }
        return Block(range: range, rows: sorted)
    }
}
