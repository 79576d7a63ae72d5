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
