import PurchaseVerification

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
