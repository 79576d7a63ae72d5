import PurchaseVerification

/// Evidence from which a customer restores all of their purchases.
public struct RestoreSubmission: Sendable {
    /// The most pieces of evidence in one request.
    public static let maximum = 100

    public var app: String
    public var keyID: String?
    public var sourceAddress: String?
    public var customerID: String
    /// A receipt, or signed transactions.
    public var evidence: [[UInt8]]
    /// The names of members of the request that the server does not know.
    public var unknownMembers: [String] = []

    /// The evidence of a customer.
    public init(app: String, customerID: String, evidence: [[UInt8]]) {
        self.app = app
        self.customerID = customerID
        self.evidence = evidence
    }
}
