import PurchaseVerification

struct SeatAccessTable {
    let connection: any LedgerConnection

    func rows(original: Int64) throws(LedgerStorageError) -> [SeatAccessRow] {
        try SeatAccessRow.all("WHERE original_key = ?1 ORDER BY product_key", [.integer(original)], connection)
    }

    /// Replaces the rows of a subscription, if they differ.
    func write(_ rows: [SeatAccessRow], original: Int64) throws(LedgerStorageError) {
        let former = try self.rows(original: original)
        let sorted = rows.sorted { $0.productKey < $1.productKey }
        guard !former.elementsEqual(sorted, by: { $0.values == $1.values }) else { return }
        if !former.isEmpty { try delete(original: original) }
        for row in sorted { try connection.insert(SeatAccessRow.table.insertion, row.values) }
    }

    func delete(original: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "seat_access", "DELETE FROM seat_access WHERE original_key = ?1", [.integer(original)])
    }
}

/// The stored form of the numbers of seats: version, number of entries, and for each its time and its seats.
extension SeatAccess {
    private static let version: UInt8 = 1
    /// More than any subscription has; a row with more was tampered with.
    private static let maximum: UInt64 = 100_000

    static func numbers(encoded: [UInt8]) throws(LedgerStorageError) -> [Number] {
        do throws(FactsDecodingError) {
            var reader = CanonicalReader(encoded)
            guard try reader.byte() == version else { throw reader.malformed }
            let count = try reader.unsigned()
            guard count <= maximum else { throw reader.malformed }
            var numbers: [Number] = []
            for _ in 0..<count { numbers.append(Number(at: try reader.moment(), seats: try reader.signed())) }
            guard reader.isAtEnd else { throw reader.malformed }
            return numbers
        } catch {
            throw LedgerStorageError(
                .corrupt, "the numbers of seats of a subscription are malformed; run assay rebuild")
        }
    }

    var encodedNumbers: [UInt8] {
        var writer = CanonicalWriter()
        writer.write(byte: Self.version)
        writer.write(UInt64(numbers.count))
        for number in numbers {
            writer.write(number.at)
            writer.write(signed: number.seats)
        }
        return writer.bytes
    }
}
