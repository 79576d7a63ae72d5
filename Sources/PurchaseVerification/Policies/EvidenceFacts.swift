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
