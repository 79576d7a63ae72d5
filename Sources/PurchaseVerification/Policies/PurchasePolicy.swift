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

/// The evidence belongs to this app.
public struct BundleIDPolicy: PurchasePolicy {
    private let bundleIDs: Set<String>

    /// Accepts one app.
    public init(_ bundleID: String) { bundleIDs = [bundleID] }

    /// Accepts any of several apps.
    public init(anyOf bundleIDs: Set<String>) { self.bundleIDs = bundleIDs }

    public var name: String { "bundle id" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        guard let found = facts.bundleID else {
            throw VerificationError(.attributeMissing, expected: "a bundle id")
        }
        guard bundleIDs.contains(where: { $0.isSame(as: found) }) else {
            throw VerificationError(
                .bundleIDMismatch, expected: bundleIDs.sorted().joined(separator: " or "), found: found)
        }
    }
}

/// Requires this version of the app: on iOS the build number, on the Mac the version. Signed transactions and renewal
/// info have no version, and fail.
public struct ApplicationVersionPolicy: PurchasePolicy {
    private let versions: Set<String>

    /// Accepts one version.
    public init(_ version: String) { versions = [version] }

    /// Accepts any of several versions.
    public init(anyOf versions: Set<String>) { self.versions = versions }

    public var name: String { "app version" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        guard let found = facts.applicationVersion else {
            throw VerificationError(.attributeMissing, expected: "an app version")
        }
        guard versions.contains(where: { $0.isSame(as: found) }) else {
            throw VerificationError(
                .applicationVersionMismatch, expected: versions.sorted().joined(separator: " or "), found: found)
        }
    }
}

/// Requires this number of the app in production evidence. In the sandbox, evidence without a number passes.
///
/// Signed transactions and renewal info never contain it; their bundle id identifies the app.
public struct AppAppleIDPolicy: PurchasePolicy {
    private let appAppleID: UInt64

    /// - Parameter appAppleID: the App Store's number of the app.
    public init(_ appAppleID: UInt64) { self.appAppleID = appAppleID }

    public var name: String { "App Store number of the app" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        guard facts.environment == .production, facts.kind != .signedTransaction, facts.kind != .signedRenewalInfo
        else { return }
        guard let found = facts.appAppleID else {
            throw VerificationError(.attributeMissing, expected: "the App Store number of the app")
        }
        guard found == appAppleID else {
            throw VerificationError(.appAppleIDMismatch, expected: "\(appAppleID)", found: "\(found)")
        }
    }
}

/// The evidence comes from an environment that the caller accepts.
public struct EnvironmentPolicy: PurchasePolicy {
    private let environments: Set<AppStoreEnvironment>

    /// Accepts these environments and no others.
    public init(accepting environments: Set<AppStoreEnvironment>) { self.environments = environments }

    public var name: String { "environment" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        guard let found = facts.environment else {
            throw VerificationError(.attributeMissing, expected: "an environment")
        }
        guard environments.contains(found) else {
            throw VerificationError(
                .environmentNotAccepted, expected: environments.map(\.name).sorted().joined(separator: " or "),
                found: found.name)
        }
    }
}

/// Requires that the receipt has not expired (attribute 21). Only receipts of the Volume Purchase Program have an
/// expiry date; a receipt without one never expires (Apple, "expiration_date"). This is not the end of a subscription's
/// period.
public struct ExpirationPolicy: PurchasePolicy {
    private let moment: AppStoreTime

    /// - Parameter moment: the time at which the receipt is used.
    public init(at moment: AppStoreTime) { self.moment = moment }

    public var name: String { "expiration" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        guard let expirationDate = facts.expirationDate, moment >= expirationDate else { return }
        throw VerificationError(
            .receiptExpired, expected: "an expiration after \(moment)", found: "\(expirationDate)")
    }
}

/// Requires evidence that was signed recently, so that old evidence cannot be reused.
public struct FreshnessPolicy: PurchasePolicy {
    private let moment: AppStoreTime
    private let limit: Int64

    /// Clocks differ by this much without anything being wrong, in milliseconds.
    private static let tolerance: Int64 = 5 * 60_000

    /// - Parameters:
    ///   - moment: the time at which the evidence is used.
    ///   - limit: how old it may be, in milliseconds.
    public init(at moment: AppStoreTime, limit: Int64) {
        self.moment = moment
        self.limit = limit
    }

    public var name: String { "freshness" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        guard let signed = facts.signingDate else {
            throw VerificationError(.attributeMissing, expected: "a date of signing")
        }
        let age = moment.millisecondsSince1970.subtractingReportingOverflow(signed.millisecondsSince1970)
        guard !age.overflow, age.partialValue <= limit, age.partialValue >= -Self.tolerance else {
            throw VerificationError(
                .evidenceNotFresh, expected: "signed within \(limit / 1000) seconds before \(moment)",
                found: "\(signed)")
        }
    }
}

/// Requires that no transaction was seen before: a repeated proof, or a copied one, grants nothing.
///
/// For evidence of one transaction. An app receipt keeps its purchases, so this policy accepts it only once.
public struct UnseenTransactionPolicy: PurchasePolicy {
    private let isSeen: @Sendable (String) -> Bool

    /// - Parameter isSeen: whether the caller's store knows the transaction.
    public init(isSeen: @escaping @Sendable (_ transactionID: String) -> Bool) { self.isSeen = isSeen }

    public var name: String { "not seen before" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        for transaction in facts.transactions where isSeen(transaction.transactionID) {
            throw VerificationError(
                .transactionSeenBefore, expected: "a transaction that was not seen before",
                found: transaction.transactionID)
        }
    }
}
