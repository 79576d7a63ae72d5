/// A request for an extension of a subscription, and Apple's answer.
public struct ExtensionMessage: Codable, Sendable, Equatable {
    public var requestID: String
    public var originalTransactionID: String
    public var environment: EnvironmentName
    public var days: Int64
    public var extensionReason: String
    public var requestedAt: String
    /// `open` (Apple is asked again), `extended`, `refused` or `unanswered`.
    public var state: String
    public var answeredAt: String?
    /// The new end of the period, as Apple says it. Access follows the signed transaction that comes afterwards.
    public var effectiveDate: String?
    /// Apple's number, if it refused.
    public var appStoreNumber: Int64?
    /// Whether an earlier request recorded it; only in the answer to a request.
    public var replayed: Bool?

    public init(
        requestID: String, originalTransactionID: String, environment: EnvironmentName, days: Int64,
        extensionReason: String, requestedAt: String, state: String
    ) {
        (self.requestID, self.originalTransactionID, self.environment) = (requestID, originalTransactionID, environment)
        (self.days, self.extensionReason, self.requestedAt, self.state) = (days, extensionReason, requestedAt, state)
    }

    enum CodingKeys: String, CodingKey {
        case environment, days, state, replayed
        case requestID = "request_id"
        case originalTransactionID = "original_transaction_id"
        case extensionReason = "extension_reason"
        case requestedAt = "requested_at"
        case answeredAt = "answered_at"
        case effectiveDate = "effective_date"
        case appStoreNumber = "app_store_number"
    }
}

/// `GET /v1/subscriptions/{original}/extensions`: the extensions that operators asked for, the newest first.
public struct ExtensionList: Codable, Sendable, Equatable {
    public var extensions: [ExtensionMessage]

    public init(extensions: [ExtensionMessage]) { self.extensions = extensions }
}
