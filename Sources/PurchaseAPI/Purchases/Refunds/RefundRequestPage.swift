/// `GET /v1/refund_requests`: a page of refund requests, the newest first.
public struct RefundRequestPage: Codable, Sendable, Equatable {
    public var refundRequests: [RefundRequestMessage]
    /// The parameter `cursor` of the next request; absent on the last page.
    public var nextCursor: String?

    /// A page.
    public init(refundRequests: [RefundRequestMessage], nextCursor: String? = nil) {
        self.refundRequests = refundRequests
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case refundRequests = "refund_requests"
        case nextCursor = "next_cursor"
    }
}
