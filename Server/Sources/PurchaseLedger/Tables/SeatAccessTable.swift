import PurchaseVerification

/// What a product of a subscription gives to those who claimed its seats. Only subscriptions with claims have rows.
struct SeatAccessRow: TableRow {
    static let table = Table(
        "seat_access", key: nil, columns: ["original_key", "product_key", "environment", "timeline", "numbers"])

    var originalKey: Int64
    var productKey: Int64
    var environment: Int64
    /// The stored form of the timeline.
    var timeline: [UInt8]
    /// The stored form of the numbers of seats.
    var numbers: [UInt8]

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        originalKey = try reader.integer()
        productKey = try reader.integer()
        environment = try reader.integer()
        timeline = try reader.blob()
        numbers = try reader.blob()
    }

    init(_ access: SeatAccess, original: Int64, product: Int64, environment: Int64) {
        (originalKey, productKey, self.environment) = (original, product, environment)
        timeline = access.timeline.encoded
        numbers = access.encodedNumbers
    }

    var values: [LedgerValue] {
        [.integer(originalKey), .integer(productKey), .integer(environment), .blob(timeline), .blob(numbers)]
    }

    /// - Parameter environment: the environment of its transactions.
    func access(in environment: AppStoreEnvironment) throws(LedgerStorageError) -> SeatAccess {
        SeatAccess(
            timeline: try AccessTimeline(encoded: timeline, environment: environment),
            numbers: try SeatAccess.numbers(encoded: numbers))
    }
}

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
