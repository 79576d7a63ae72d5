public import PurchaseVerification

/// A claimed seat of a subscription.
public struct SeatRecord: Sendable, Equatable {
    public var seatID: String
    public var environment: AppStoreEnvironment
    public var originalTransactionID: String
    /// The member, after all merges.
    public var customerID: String?
    public var requestID: String
    public var appTransactionID: String?
    public var claimedAt: Timestamp
    /// When it ended; `nil` if it did not.
    public var unclaimedAt: Timestamp?
    /// Whether the subscription has a seat for it now: fewer claims are older than seats exist.
    public var isSeated = false

    init(
        _ row: SeatRow, of original: OriginalRow, _ reader: LedgerTransaction
    ) throws(LedgerStorageError) {
        seatID = row.seatID
        environment = try reader.environments.environment(original.environment)
        originalTransactionID = original.originalID
        customerID = try reader.customers.surviving(try reader.customers.row(row.customerKey)).name
        requestID = row.requestID
        appTransactionID = row.appTransactionID
        (claimedAt, unclaimedAt) = (row.claimedAt, row.endedAt)
    }
}
