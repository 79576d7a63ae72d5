public import PurchaseVerification

/// An external purchase token, as a notification or a backend states it (Apple, "externalPurchaseToken").
public struct ExternalPurchase: Codable, Sendable, Equatable {
    /// Apple tells a server of a token without a report ten days after it was made (Apple, "Reporting unrecognized and
    /// transactionless tokens"). A day before, in milliseconds.
    static let reportedAfter: Int64 = 9 * 86_400_000
    /// The time in which a backend can state line items after Apple asked for a report, in milliseconds: a day. Apple's
    /// pages name no deadline.
    static let answeredAfter: Int64 = 86_400_000
    /// A report that Apple has not accepted two days after it was due is late, in milliseconds: a weekend, and time to
    /// look at it before Apple asks again.
    static let lateAfter: Int64 = 2 * 86_400_000

    public var id: String
    public var bundleID: String?
    public var tokenType: String?
    /// In milliseconds since 1970.
    public var createdAt: Int64?
    /// In milliseconds since 1970.
    public var expiresAt: Int64?

    public init(
        id: String, bundleID: String?, tokenType: String? = nil, createdAt: Int64? = nil, expiresAt: Int64? = nil
    ) {
        (self.id, self.bundleID, self.tokenType) = (id, bundleID, tokenType)
        (self.createdAt, self.expiresAt) = (createdAt, expiresAt)
    }

    /// Ids of the sandbox begin with `SANDBOX` (Apple, "Receiving and decoding external purchase tokens").
    public static func environment(ofID id: String) -> AppStoreEnvironment {
        id.utf8.starts(with: "SANDBOX".utf8) ? .sandbox : .production
    }
}

/// What a report says about a token (Apple, "status").
public enum ExternalReportStatus: String, Codable, Sendable, CaseIterable {
    case lineItems = "LINE_ITEM"
    case noLineItem = "NO_LINE_ITEM"
    case unrecognized = "UNRECOGNIZED_TOKEN"
    case duplicate = "DUPLICATE_TOKEN"
}

/// Where a token stands.
public enum ExternalPurchaseState: String, Sendable, CaseIterable {
    /// Nothing is to be reported yet.
    case open
    /// A report waits for its time or for an answer.
    case due
    /// Apple accepted everything that is known.
    case reported
    /// Apple refused the last report.
    case refused
}
