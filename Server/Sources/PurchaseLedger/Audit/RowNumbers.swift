import PurchaseVerification

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
            if column == "ground", number == EntitlementRow.passGround { continue }
            if column == "ground" {
                let found = try number > 0 ? self.number("originals", number) : -self.number("hand_grants", -number)
                values[place] = .integer(found)
            } else if let table = RowIdentities.table(namedBy: column) {
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
