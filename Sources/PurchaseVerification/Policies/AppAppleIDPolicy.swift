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
