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
