public import PurchaseVerification

/// The information about one transaction (Apple, "Get Transaction Info").
public struct GetTransaction: AppStoreServerOperation {
    /// A transaction id; that of the original is also its own.
    public var transactionID: String

    public init(_ transactionID: String) { self.transactionID = transactionID }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.get, ["inApps", "v1", "transactions", transactionID])
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> TransactionJWS {
        let transaction = try reply.transaction(try reply.decoded(SignedTransactionBody.self).signedTransactionInfo)
        guard transaction.content.transactionID == transactionID else {
            throw .otherAnswer(
                expected: "the transaction \(transactionID)", found: "\(transaction.content.transactionID)")
        }
        return transaction
    }
}

/// The customer's download of the app (Apple, "Get App Transaction Info").
public struct GetAppTransaction: AppStoreServerOperation {
    /// A transaction id, an original transaction id or an app transaction id.
    public var id: String

    public init(_ id: String) { self.id = id }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.get, ["inApps", "v1", "transactions", "appTransactions", id])
    }

    public func read(
        _ reply: AppStoreServerReply
    ) throws(AppStoreServerReplyFault) -> VerifiedJWS<SignedAppTransaction> {
        try reply.appTransaction(try reply.decoded(SignedAppTransactionBody.self).signedAppTransactionInfo)
    }
}

private struct SignedTransactionBody: Decodable {
    let signedTransactionInfo: String
}

private struct SignedAppTransactionBody: Decodable {
    let signedAppTransactionInfo: String
}

/// The use of a purchase (Apple, "ConsumptionRequest").
public struct ConsumptionInformation: Sendable, Equatable, Encodable {
    /// Whether the customer agreed that this is sent. Without consent, nothing may be sent.
    public var customerConsented: Bool
    /// Whether there was a free sample before the purchase.
    public var sampleContentProvided: Bool
    public var deliveryStatus: ConsumptionDelivery
    /// The used part in thousandths of a percent, 0 to 100,000; never for auto-renewable subscriptions.
    public var consumptionPercentage: Int64?
    public var refundPreference: RefundPreference?

    public init(
        customerConsented: Bool, sampleContentProvided: Bool, deliveryStatus: ConsumptionDelivery,
        consumptionPercentage: Int64? = nil, refundPreference: RefundPreference? = nil
    ) {
        self.customerConsented = customerConsented
        self.sampleContentProvided = sampleContentProvided
        self.deliveryStatus = deliveryStatus
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
    }
}

/// Whether a purchase was delivered (Apple, "deliveryStatus").
public struct ConsumptionDelivery: OpenValue, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let delivered = Self(rawValue: "DELIVERED")
    public static let qualityIssue = Self(rawValue: "UNDELIVERED_QUALITY_ISSUE")
    public static let wrongItem = Self(rawValue: "UNDELIVERED_WRONG_ITEM")
    public static let serverOutage = Self(rawValue: "UNDELIVERED_SERVER_OUTAGE")
    public static let other = Self(rawValue: "UNDELIVERED_OTHER")
}

/// The outcome of a refund request that the app prefers (Apple, "refundPreference").
public struct RefundPreference: OpenValue, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let decline = Self(rawValue: "DECLINE")
    public static let grantFull = Self(rawValue: "GRANT_FULL")
    public static let grantProrated = Self(rawValue: "GRANT_PRORATED")
}

/// The use of a purchase in the first form, by Apple's numbers (Apple, "ConsumptionRequestV1").
public struct ConsumptionInformationV1: Sendable, Equatable, Encodable {
    public var customerConsented: Bool?
    public var consumptionStatus: Int64?
    public var platform: Int64?
    public var sampleContentProvided: Bool?
    public var deliveryStatus: Int64?
    public var appAccountToken: String?
    public var accountTenure: Int64?
    public var playTime: Int64?
    public var lifetimeDollarsRefunded: Int64?
    public var lifetimeDollarsPurchased: Int64?
    public var userStatus: Int64?
    public var refundPreference: Int64?

    public init(customerConsented: Bool?) { self.customerConsented = customerConsented }
}
