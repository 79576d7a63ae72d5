/// A check that a caller makes on genuine evidence. Policies are composed in a list and checked in its order.
///
/// Evidence that lacks a fact which a policy needs fails it: a check that could not run is a failure. (A receipt
/// without an expiry date does not expire; that is the meaning of the absence.)
public protocol PurchasePolicy: Sendable {
    /// The subject of the check in two or three words, for people.
    var name: String { get }

    /// Checks the evidence. The method also accepts unverified content, so that `inspect` can show each check; only
    /// `PurchaseVerifier` creates verified values.
    ///
    /// - Throws: the reason against it, with the two facts that disagreed.
    func check(_ facts: some EvidenceFacts) throws(VerificationError)
}

/// The facts that policies use, for every kind of evidence. A fact that a kind does not state is `nil`.
public protocol EvidenceFacts {
    var kind: EvidenceKind { get }
    /// The bundle id of the app.
    var bundleID: String? { get }
    /// The version of the app.
    var applicationVersion: String? { get }
    /// The environment of the purchase.
    var environment: AppStoreEnvironment? { get }
    /// The App Store's number of the app.
    var appAppleID: UInt64? { get }
    /// When the evidence was signed.
    var signingDate: AppStoreTime? { get }
    /// When the evidence itself expires, which only receipts of the Volume Purchase Program do.
    var expirationDate: AppStoreTime? { get }
    /// The transactions that it proves, in its order.
    var transactions: [TransactionFacts] { get }

    /// Checks that the evidence was made for the device.
    ///
    /// - Throws: `device_hash_mismatch`, or `attribute_missing` if it names no device.
    func requireDevice(_ device: DeviceIdentifier) throws(VerificationError)
}

/// The facts of one transaction, from evidence or from a client.
public struct TransactionFacts: Sendable {
    public var transactionID: String
    public var originalTransactionID: String?
    public var productID: String?
    public var quantity: UInt64?
    public var purchaseDate: AppStoreTime?

    /// - Parameters: the known facts; `nil` for unknown ones.
    public init(
        transactionID: String, originalTransactionID: String? = nil, productID: String? = nil,
        quantity: UInt64? = nil, purchaseDate: AppStoreTime? = nil
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
