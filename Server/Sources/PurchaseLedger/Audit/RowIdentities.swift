import PurchaseVerification

/// Identifies the rows that others refer to by number by their meaning, which is the same in every database of a
/// ledger.
struct RowIdentities: Sendable {
    /// The tables that a repair does not write.
    private static let fixed: Set<String> = ["apps", "environments", "evidence", "journal"]

    /// The number and the meaning of each row, by table.
    private var rows: [String: [(number: Int64, meaning: [LedgerValue])]] = [:]

    /// Reads a database.
    init(_ connection: any LedgerConnection) throws(LedgerStorageError) {
        for target in TableReferences.targets {
            var found: [(number: Int64, meaning: [LedgerValue])] = []
            var identities = TableIdentities(target.table)
            identities.add("\(target.table).\(target.number)", named: target.number)
            for column in target.identity { identities.add(column, of: target.table) }
            let columns = identities.columns.map(\.expression).joined(separator: ", ")
            for row in try connection.rows("SELECT \(columns) FROM \(identities.source)", []) {
                var reader = row.reader
                found.append((try reader.integer(), Self.exact(row.values.dropFirst())))
            }
            rows[target.table] = found
        }
    }

    /// The journal or the evidence of a ledger that has other entries than this rebuild, with both numbers of rows.
    func growth(in ledger: RowIdentities) -> String? {
        for table in ["journal", "evidence"] {
            let (known, rebuilt) = (ledger.rows[table]?.count ?? 0, rows[table]?.count ?? 0)
            if known != rebuilt { return "\(table) has \(known) rows, and the rebuild has \(rebuilt)" }
        }
        return nil
    }

    /// The ledger's numbers for the rows of this rebuild.
    ///
    /// - Throws: `corrupt` if the ledger lacks rows of the rebuild that a repair does not write.
    func numbers(in ledger: RowIdentities) throws(LedgerStorageError) -> RowNumbers {
        var numbers = RowNumbers()
        for table in TableReferences.targets.map(\.table) {
            let known = ledger.rows[table] ?? []
            var places: [[LedgerValue]: Int64] = [:]
            var last: Int64 = 0
            for row in known {
                places[row.meaning] = row.number
                last = max(last, row.number)
            }
            let rebuilt = rows[table] ?? []
            for row in rebuilt {
                if let number = places[row.meaning] {
                    numbers.add(table, row.number, number)
                    continue
                }
                guard !Self.fixed.contains(table) else {
                    throw LedgerStorageError(
                        .corrupt, "\(table) lacks row \(row.number) of the rebuild; stop the server and try again")
                }
                last += 1
                numbers.add(table, row.number, last)
            }
        }
        return numbers
    }

    /// Text is compared by its bytes.
    private static func exact(_ values: ArraySlice<LedgerValue>) -> [LedgerValue] {
        values.map { value in
            if case .text(let text) = value { .blob(Array(text.utf8)) } else { value }
        }
    }
}

/// The ledger's numbers for the rows of a rebuild.
struct RowNumbers {
    private var numbers: [String: [Int64: Int64]] = [:]

    mutating func add(_ table: String, _ rebuilt: Int64, _ ledger: Int64) {
        numbers[table, default: [:]][rebuilt] = ledger
    }

    /// A row of a rebuild with the ledger's numbers.
    ///
    /// - Throws: `corrupt` if the row refers to a row that the rebuild does not have.
    func renumbered(_ row: LedgerRow, _ columns: [String]) throws(LedgerStorageError) -> LedgerRow {
        var values = row.values
        for (place, column) in columns.enumerated() {
            // 0 means no row: an erased purchase has no product.
            guard place < values.count, case .integer(let number) = values[place], number != 0 else { continue }
            if column == TableReferences.ground, number == EntitlementRow.passGround { continue }
            if column == TableReferences.ground {
                let found = try number > 0 ? self.number("originals", number) : -self.number("hand_grants", -number)
                values[place] = .integer(found)
            } else if let table = TableReferences.target(namedBy: column)?.table {
                values[place] = .integer(try self.number(table, number))
            }
        }
        return LedgerRow(values: values)
    }

    private func number(_ table: String, _ rebuilt: Int64) throws(LedgerStorageError) -> Int64 {
        guard let number = numbers[table]?[rebuilt] else {
            throw LedgerStorageError(.corrupt, "the rebuild names row \(rebuilt) of \(table), and has none")
        }
        return number
    }
}
