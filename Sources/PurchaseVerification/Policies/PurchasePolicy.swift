/// One demand that a caller makes of genuine evidence. Policies are composed in a list and checked in its order.
///
/// Evidence that lacks what a policy needs fails it: a check that could not run is a failure. (A receipt without an expiration
/// date does not expire; that is what the absence means.)
public protocol PurchasePolicy: Sendable {
    /// What is checked, in two or three words, for people.
    var name: String { get }

    /// Checks the evidence. The method takes unverified content, too, so that `inspect` can show each check; only
    /// `PurchaseVerifier` turns passing into a verified value.
    ///
    /// - Throws: the reason against it, with the two facts that disagreed.
    func check(_ facts: some EvidenceFacts) throws(VerificationError)
}

/// What policies look at, whatever the kind of evidence. What a kind does not say is `nil`.
public protocol EvidenceFacts {
    var kind: EvidenceKind { get }
    /// The bundle id of the app.
    var bundleID: String? { get }
    /// The version of the app.
    var applicationVersion: String? { get }
    /// Where the purchase was made.
    var environment: AppStoreEnvironment? { get }
    /// The App Store's number of the app.
    var appAppleID: UInt64? { get }
    /// When the evidence was signed.
    var signingDate: Timestamp? { get }
    /// When the evidence itself expires, which only receipts of the Volume Purchase Program do.
    var expirationDate: Timestamp? { get }
    /// The transactions that it proves, in its order.
    var transactions: [TransactionFacts] { get }

    /// Checks that the evidence was made for the device.
    ///
    /// - Throws: `device_hash_mismatch`, or `attribute_missing` where it names no device.
    func requireDevice(_ device: DeviceIdentifier) throws(VerificationError)
}

/// What evidence says of one transaction, or what a client says of it.
public struct TransactionFacts: Sendable {
    public var transactionID: String
    public var originalTransactionID: String?
    public var productID: String?
    public var quantity: UInt64?
    public var purchaseDate: Timestamp?

    /// - Parameters: what is known; `nil` stands for what is not.
    public init(
        transactionID: String, originalTransactionID: String? = nil, productID: String? = nil,
        quantity: UInt64? = nil, purchaseDate: Timestamp? = nil
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.quantity = quantity
        self.purchaseDate = purchaseDate
    }
}

extension TransactionFacts: Equatable {
    /// Compares identifiers byte by byte.
    public static func == (left: TransactionFacts, right: TransactionFacts) -> Bool {
        isSame(left.transactionID, right.transactionID)
            && isSame(left.originalTransactionID, right.originalTransactionID)
            && isSame(left.productID, right.productID) && left.quantity == right.quantity
            && left.purchaseDate == right.purchaseDate
    }

    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        left.map { $0.isSame(as: right) } ?? (right == nil)
    }
}
