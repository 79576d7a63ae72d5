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
