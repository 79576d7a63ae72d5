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

    /// A page.
    public init(
        originalTransactionID: String, environment: EnvironmentName, total: Int64, claimed: Int64, seats: [SeatMessage],
        nextCursor: String? = nil
    ) {
        self.originalTransactionID = originalTransactionID
        self.environment = environment
        self.total = total
        self.claimed = claimed
        self.seats = seats
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case environment, total, claimed, seats
        case originalTransactionID = "original_transaction_id"
        case nextCursor = "next_cursor"
    }
}
