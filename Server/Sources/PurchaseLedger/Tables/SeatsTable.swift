import PurchaseVerification

struct SeatsTable {
    let connection: any LedgerConnection

    func row(entry: Int64) throws(LedgerStorageError) -> SeatRow? {
        try SeatRow.first("WHERE entry_key = ?1", [.integer(entry)], connection)
    }

    /// The claim with exactly this id, as a replay of the journal looks it up.
    func row(id: String, appKey: Int64) throws(LedgerStorageError) -> SeatRow? {
        try SeatRow.first("WHERE app_key = ?1 AND seat_id = ?2", [.integer(appKey), .text(id)], connection)
    }

    /// The claims with an id in any of its forms, the given one first.
    func rows(id: String, appKey: Int64) throws(LedgerStorageError) -> [SeatRow] {
        var found: [SeatRow] = []
        for form in SeatID.forms(id) {
            guard let row = try row(id: form, appKey: appKey) else { continue }
            if !found.contains(where: { $0.entryKey == row.entryKey }) { found.append(row) }
        }
        return found
    }

    func row(request: String, original: Int64) throws(LedgerStorageError) -> SeatRow? {
        try SeatRow.first(
            "WHERE original_key = ?1 AND request_id = ?2", [.integer(original), .text(request)], connection)
    }

    /// The oldest claim of a customer that did not end.
    func current(of customer: Int64, original: Int64) throws(LedgerStorageError) -> SeatRow? {
        try SeatRow.first(
            "WHERE customer_key = ?1 AND original_key = ?2 AND ended_at IS NULL ORDER BY entry_key LIMIT 1",
            [.integer(customer), .integer(original)], connection)
    }

    /// The claims that name a download of the app, ended or not, the oldest first.
    func rows(appTransactionID id: String, appKey: Int64) throws(LedgerStorageError) -> [SeatRow] {
        try SeatRow.all(
            "WHERE app_key = ?1 AND app_transaction_id = ?2 ORDER BY entry_key", [.integer(appKey), .text(id)],
            connection)
    }

    /// The claims of a customer, ended or not, the oldest first.
    func rows(of customer: Int64) throws(LedgerStorageError) -> [SeatRow] {
        try SeatRow.all("WHERE customer_key = ?1 ORDER BY entry_key", [.integer(customer)], connection)
    }

    /// Whether a subscription ever had a claim.
    func isClaimed(original: Int64) throws(LedgerStorageError) -> Bool {
        try !connection.rows(
            "SELECT 1 FROM seats WHERE original_key = ?1 LIMIT 1", [.integer(original)], of: ["seats"]
        ).isEmpty
    }

    /// The number of claims of a subscription before an entry that have not ended.
    ///
    /// - Parameter limit: the number from which on they are not counted.
    func count(original: Int64, before entry: Int64, limit: Int64) throws(LedgerStorageError) -> Int64 {
        try count(
            """
            SELECT count(*) FROM (SELECT 1 FROM seats
            WHERE original_key = ?1 AND entry_key < ?2 AND ended_at IS NULL LIMIT ?3) AS older
            """, [.integer(original), .integer(entry), .integer(limit)])
    }

    /// The number of claims of a subscription before an entry that were in force at a time.
    func count(original: Int64, before entry: Int64, at moment: Timestamp) throws(LedgerStorageError) -> Int64 {
        try count(
            """
            SELECT count(*) FROM seats WHERE original_key = ?1 AND entry_key < ?2
            AND claimed_at <= ?3 AND (ended_at IS NULL OR ended_at > ?3)
            """, [.integer(original), .integer(entry), .time(moment)])
    }

    private func count(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int64 {
        guard var reader = try connection.rows(sql, parameters, of: ["seats"]).first?.reader else { return 0 }
        return try reader.integer()
    }

    func insert(_ row: SeatRow) throws(LedgerStorageError) {
        try connection.insert(SeatRow.table.insertion, row.values)
    }

    func end(_ row: SeatRow, at moment: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: "seats", "UPDATE seats SET ended_at = ?2 WHERE entry_key = ?1", [.integer(row.entryKey), .time(moment)])
    }

    func move(from customer: Int64, to target: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "seats", "UPDATE seats SET customer_key = ?2 WHERE customer_key = ?1",
            [.integer(customer), .integer(target)])
    }

    /// Deletes the claims of an erased customer. Their ids never live again.
    func erase(of customer: Int64) throws(LedgerStorageError) {
        let access = SeatAccessTable(connection: connection)
        let rows = try rows(of: customer)
        for row in rows {
            try UnclaimedSeatsTable(connection: connection).insertIfNew(
                row.seatID, appKey: row.appKey, entry: row.entryKey)
            try connection.send(to: "seats", "DELETE FROM seats WHERE entry_key = ?1", [.integer(row.entryKey)])
        }
        for original in Set(rows.map(\.originalKey)).sorted() where try !isClaimed(original: original) {
            try access.delete(original: original)
        }
    }
}

/// A claim of a seat of a subscription whose members the backend invites.
struct SeatRow: TableRow {
    static let table = Table(
        "seats", key: nil,
        columns: [
            "entry_key", "app_key", "original_key", "seat_id", "customer_key", "request_id", "app_transaction_id",
            "claimed_at", "ended_at",
        ])

    /// The entry of the claim. It identifies the row, and orders the claims of a subscription.
    var entryKey: Int64
    var appKey: Int64
    var originalKey: Int64
    /// The App Store's `seatClaimId`, or an id of ours.
    var seatID: String
    var customerKey: Int64
    var requestID: String
    var appTransactionID: String?
    var claimedAt: Timestamp
    var endedAt: Timestamp?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        entryKey = try reader.integer()
        appKey = try reader.integer()
        originalKey = try reader.integer()
        seatID = try reader.text()
        customerKey = try reader.integer()
        requestID = try reader.text()
        appTransactionID = try reader.optionalText()
        claimedAt = try reader.time()
        endedAt = try reader.optionalTime()
    }

    init(
        entryKey: Int64, appKey: Int64, originalKey: Int64, seatID: String, customerKey: Int64, requestID: String,
        appTransactionID: String?, claimedAt: Timestamp
    ) {
        self.entryKey = entryKey
        self.appKey = appKey
        self.originalKey = originalKey
        self.seatID = seatID
        self.customerKey = customerKey
        self.requestID = requestID
        self.appTransactionID = appTransactionID
        self.claimedAt = claimedAt
    }

    var values: [LedgerValue] {
        [
            .integer(entryKey), .integer(appKey), .integer(originalKey), .text(seatID), .integer(customerKey),
            .text(requestID), .text(appTransactionID), .time(claimedAt), .time(endedAt),
        ]
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
                .corrupt, "the numbers of seats of a subscription are malformed; run assay database rebuild")
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

/// The ids of seats that were unclaimed before they were claimed, or whose claims were erased. They are never claimed
/// again.
struct UnclaimedSeatsTable {
    private static let insertion = LedgerInsertion(
        "unclaimed_seats", ["app_key", "seat_id", "entry_key"], onConflict: ["app_key", "seat_id"], "DO NOTHING")

    let connection: any LedgerConnection

    /// Whether exactly this id was unclaimed in an environment. A notification of another environment does not count;
    /// the erasure of a claim, and a notification that states no environment, count for all.
    func contains(_ id: String, appKey: Int64, environment: Int64) throws(LedgerStorageError) -> Bool {
        let rows = try connection.rows(
            """
            SELECT notifications.environment FROM unclaimed_seats
            LEFT JOIN notifications ON notifications.app_key = unclaimed_seats.app_key
            AND notifications.entry_key = unclaimed_seats.entry_key
            WHERE unclaimed_seats.app_key = ?1 AND unclaimed_seats.seat_id = ?2
            """, [.integer(appKey), .text(id)], of: ["unclaimed_seats", "notifications"])
        guard var reader = rows.first?.reader else { return false }
        let stated = try reader.optionalInteger() ?? 0
        return stated == 0 || stated == environment
    }

    func insertIfNew(_ id: String, appKey: Int64, entry: Int64) throws(LedgerStorageError) {
        try connection.insert(Self.insertion, [.integer(appKey), .text(id), .integer(entry)])
    }
}
