/// The receipt belongs to this app (attribute 2).
public struct BundleIDPolicy: AppReceiptPolicy {
    private let bundleIDs: Set<String>

    /// Accepts one app.
    public init(_ bundleID: String) { bundleIDs = [bundleID] }

    /// Accepts any of several apps.
    public init(anyOf bundleIDs: Set<String>) { self.bundleIDs = bundleIDs }

    public var name: String { "bundle id" }

    public func check<Trust>(_ receipt: AppReceiptContent<Trust>) throws(VerificationError) {
        guard let found = receipt.bundleID else {
            throw VerificationError(.attributeMissing, expected: "a bundle id (attribute 2)")
        }
        guard bundleIDs.contains(found) else {
            throw VerificationError(
                .bundleIDMismatch, expected: bundleIDs.sorted().joined(separator: " or "), found: found)
        }
    }
}
