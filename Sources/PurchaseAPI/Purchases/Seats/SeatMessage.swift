/// A claimed seat of a subscription.
public struct SeatMessage: Codable, Sendable, Equatable {
    /// Ends it: `DELETE /v1/subscriptions/{original}/seats/{seat_id}`.
    public var seatID: String
    public var originalTransactionID: String
    public var environment: EnvironmentName
    /// The member, after all merges.
    public var customerID: String?
    public var requestID: String
    /// The member's download of the app.
    public var appTransactionID: String?
    public var claimedAt: String
    /// When it ended; absent if it did not.
    public var unclaimedAt: String?
    /// Whether the subscription has a seat for it now. Otherwise it waits, because as many claims are older as seats
    /// exist.
    public var seated: Bool
    /// Whether the customer had the seat before this request; only in the answer to a claim.
    public var replayed: Bool?

    public init(
        seatID: String, originalTransactionID: String, environment: EnvironmentName, requestID: String,
        claimedAt: String, seated: Bool = false
    ) {
        (self.seatID, self.originalTransactionID, self.environment) = (seatID, originalTransactionID, environment)
        (self.requestID, self.claimedAt, self.seated) = (requestID, claimedAt, seated)
    }

    enum CodingKeys: String, CodingKey {
        case environment, seated, replayed
        case seatID = "seat_id"
        case originalTransactionID = "original_transaction_id"
        case customerID = "customer_id"
        case requestID = "request_id"
        case appTransactionID = "app_transaction_id"
        case claimedAt = "claimed_at"
        case unclaimedAt = "unclaimed_at"
    }
}

/// `GET /v1/subscriptions/{original}/seats`
public struct SeatPage: Codable, Sendable, Equatable {
    public var originalTransactionID: String
    public var environment: EnvironmentName
    /// The seats of the present period; 0 if it gives no access.
    public var total: Int64
    /// The claims that have not ended, on all pages. There can be more than seats.
    public var claimed: Int64
    /// The claims that have not ended, the oldest first.
    public var seats: [SeatMessage]
    /// The cursor of the next page; absent on the last page.
    public var nextCursor: String?

    public init(
        originalTransactionID: String, environment: EnvironmentName, total: Int64, claimed: Int64, seats: [SeatMessage],
        nextCursor: String? = nil
    ) {
        (self.originalTransactionID, self.environment, self.total) = (originalTransactionID, environment, total)
        (self.claimed, self.seats, self.nextCursor) = (claimed, seats, nextCursor)
    }

    enum CodingKeys: String, CodingKey {
        case environment, total, claimed, seats
        case originalTransactionID = "original_transaction_id"
        case nextCursor = "next_cursor"
    }
}
